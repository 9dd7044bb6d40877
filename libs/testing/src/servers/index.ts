export { certifyLoopback } from './loopback-certificate.js';
export { ClusterFaults } from './cluster-faults.js';
export { useNatsCluster, type NatsClusterFixture } from './use-nats-cluster.js';
export { SHARED_USER, useNatsServer, type NatsFixture, type UseNatsServerOptions } from './use-nats-server.js';
export { usePostgres, type PostgresFixture } from './use-postgres.js';
