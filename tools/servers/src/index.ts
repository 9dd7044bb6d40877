export { DeadlineError, pollUntil, type PollOptions } from './poll-until.js';
export { makeTempFolder, type TempFolder } from './temp-folder.js';
export { allocatePorts, reservePortBlock, type PortReservation } from './ports/allocate-ports.js';
export { parentWatch } from './processes/parent-watch.js';
export { identifyProcess, isRunning, type ProcessIdentity } from './processes/process-identity.js';
export {
  findRecorded,
  removePidFile,
  stopLeftover,
  writePidFile,
  type LeftoverOutcome,
  type StopLeftoverOptions,
} from './processes/pid-file.js';
export { CommandError, runCommand, type CommandOptions } from './processes/run-command.js';
export {
  ServerProcess,
  ServerStartError,
  spawnServer,
  type ServerCommand,
  type ServerExit,
} from './processes/server-process.js';
export {
  findNatsServer,
  NatsServerMissingError,
  type FindNatsServerOptions,
  type NatsServerProgram,
  type NatsServerSource,
} from './nats/find-nats-server.js';
export { startNatsCluster, type NatsCluster, type StartNatsClusterOptions } from './nats/start-nats-cluster.js';
export { startNatsServer, type NatsServer, type StartNatsServerOptions } from './nats/start-nats-server.js';
export { PostgresMissingError } from './postgres/postgres-programs.js';
export { type CreateDatabaseOptions } from './postgres/create-database.js';
export { startPostgres, type PostgresServer, type StartPostgresOptions } from './postgres/start-postgres.js';
export {
  BASE_IMAGE,
  startEngine,
  whyNoEngine,
  type ContainerEngine,
  type StartEngineOptions,
} from './engine/start-engine.js';
export { loadNodeBase, NODE_BASE_IMAGE } from './engine/load-node-base.js';
export { startCluster, type Cluster, type ImageConfig, type StartClusterOptions } from './cluster/start-cluster.js';
export { findDebianProgram, type DebianProgram } from './debian/find-debian-program.js';
export {
  findPrometheus,
  findPromtool,
  startPrometheus,
  type Prometheus,
  type ScrapeJob,
  type StartPrometheusOptions,
} from './prometheus/start-prometheus.js';
