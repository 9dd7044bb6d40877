import type { Socket } from 'node:net';
import { DataSource } from 'typeorm';
import {
  AccountEntity,
  ApiKeyEntity,
  AuditEntryEntity,
  ClusterEntity,
  EndpointEntity,
  EndpointScalingEntity,
  HostEntity,
  JoinTokenEntity,
  NetworkVolumeEntity,
  PodEntity,
  PodVolumeEntity,
  RegistryEntity,
  ReleaseEntity,
  TemplateEntity,
  WebhookSecretEntity,
  WorkerEntity,
} from './entities/index.js';
import { FirstTables1763700000000 } from './migrations/first-schema/1763700000000-first-tables.js';
import { EndpointReleases1763800000000 } from './migrations/first-schema/1763800000000-endpoint-releases.js';
import { RequestLedgers1763800000001 } from './migrations/first-schema/1763800000001-request-ledgers.js';
import { TemplatesRegistriesVolumes1763800000002 } from './migrations/first-schema/1763800000002-templates-registries-volumes.js';
import { ClustersPods1763800000003 } from './migrations/first-schema/1763800000003-clusters-pods.js';
import { AuditTrail1763800000004 } from './migrations/first-schema/1763800000004-audit-trail.js';
import { EndpointReferences1763800000005 } from './migrations/first-schema/1763800000005-endpoint-references.js';
import { StricterFirstTables1763800000007 } from './migrations/first-schema/1763800000007-stricter-first-tables.js';
import { WebhookSecrets1763800000008 } from './migrations/first-schema/1763800000008-webhook-secrets.js';
import { JobHistory1763800000009 } from './migrations/first-schema/1763800000009-job-history.js';
import { SealedEnv1763800000010 } from './migrations/first-schema/1763800000010-sealed-env.js';
import { WorkerMoves1763800000031 } from './migrations/second-schema/1763800000031-worker-moves.js';
import { SnapshotOutbox1763800000042 } from './migrations/second-schema/1763800000042-snapshot-outbox.js';
import { AccountLimits1763800000043 } from './migrations/second-schema/1763800000043-account-limits.js';
import { JobHistoryShards1763800000044 } from './migrations/second-schema/1763800000044-job-history-shards.js';
import { JobHistoryOfLogs1763800000045 } from './migrations/second-schema/1763800000045-job-history-of-logs.js';
import { DepartedWorkers1763800000047 } from './migrations/second-schema/1763800000047-departed-workers.js';
import { LimitsByTheirTable1763800000046 } from './migrations/second-schema/1763800000046-limits-by-their-table.js';
import { ReleaseStarts1763800000048 } from './migrations/second-schema/1763800000048-release-starts.js';
import { ScalingDecisions1763800000049 } from './migrations/second-schema/1763800000049-scaling-decisions.js';
import { ImageDigests1763800000050 } from './migrations/1763800000050-image-digests.js';
import { VolumeStorage1763800000051 } from './migrations/1763800000051-volume-storage.js';
import { PausedWorkers1763800000052 } from './migrations/1763800000052-paused-workers.js';
import { LoadBalancerAccess1763800000054 } from './migrations/1763800000054-load-balancer-access.js';
import { RunningCatalogs1763800000055 } from './migrations/1763800000055-running-catalogs.js';
import { ResealedAudit1763800000060 } from './migrations/1763800000060-resealed-audit.js';
import { WorkerUsage1763800000061 } from './migrations/1763800000061-worker-usage.js';
import { UsageReads1763800000062 } from './migrations/1763800000062-usage-reads.js';
import { RemovedNodes1763800000063 } from './migrations/1763800000063-removed-nodes.js';
import { SeededKeys1763800000064 } from './migrations/1763800000064-seeded-keys.js';

/** In the order in which they run. */
const MIGRATIONS = [
  FirstTables1763700000000,
  EndpointReleases1763800000000,
  RequestLedgers1763800000001,
  TemplatesRegistriesVolumes1763800000002,
  ClustersPods1763800000003,
  AuditTrail1763800000004,
  EndpointReferences1763800000005,
  StricterFirstTables1763800000007,
  WebhookSecrets1763800000008,
  JobHistory1763800000009,
  SealedEnv1763800000010,
  WorkerMoves1763800000031,
  SnapshotOutbox1763800000042,
  AccountLimits1763800000043,
  JobHistoryShards1763800000044,
  JobHistoryOfLogs1763800000045,
  LimitsByTheirTable1763800000046,
  DepartedWorkers1763800000047,
  ReleaseStarts1763800000048,
  ScalingDecisions1763800000049,
  ImageDigests1763800000050,
  VolumeStorage1763800000051,
  PausedWorkers1763800000052,
  LoadBalancerAccess1763800000054,
  RunningCatalogs1763800000055,
  ResealedAudit1763800000060,
  WorkerUsage1763800000061,
  UsageReads1763800000062,
  RemovedNodes1763800000063,
  SeededKeys1763800000064,
] as const;

export interface DataSourceOptions {
  readonly url: string;
  /** Shown by PostgreSQL beside each connection. */
  readonly applicationName: string;
  readonly poolMax: number;
  /** Longest time of one statement; 10 s unless given. Half of it may be spent waiting for rows that others hold. */
  readonly statementTimeoutMs?: number;
}

/** For a connection of the pool as for a new one. */
const CONNECT_TIMEOUT_MS = 5_000;
const STATEMENT_TIMEOUT_DEFAULT_MS = 10_000;
const IDLE_IN_TRANSACTION_MS = 15_000;

/** The one database of the control plane. Not connected yet: `initialize()` does that. */
export function createDataSource(options: DataSourceOptions): DataSource {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_DEFAULT_MS;
  return new DataSource({
    type: 'postgres',
    url: options.url,
    applicationName: options.applicationName,
    entities: [
      AccountEntity,
      ApiKeyEntity,
      AuditEntryEntity,
      ClusterEntity,
      EndpointEntity,
      EndpointScalingEntity,
      HostEntity,
      JoinTokenEntity,
      NetworkVolumeEntity,
      PodEntity,
      PodVolumeEntity,
      RegistryEntity,
      ReleaseEntity,
      TemplateEntity,
      WebhookSecretEntity,
      WorkerEntity,
    ],
    migrations: [...MIGRATIONS],
    migrationsTableName: 'schema_migrations',
    // The library's own console lines are no log lines of ours; what goes wrong is thrown.
    logger: 'debug',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolSize: options.poolMax,
    extra: {
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      statement_timeout: statementTimeoutMs,
      lock_timeout: statementTimeoutMs / 2,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
      keepAlive: true,
      onConnect: endWhenSilent(2 * statementTimeoutMs),
    },
  });
}

/** The part of the driver's client that is used here. */
interface DriverClient {
  readonly connection: { readonly stream: Socket };
}

/**
 * A server that is frozen or cut off keeps none of the limits above. The whole connection is given up: the driver's own
 * time limit would hand it back to the pool with its transaction still open, to be committed by the next user.
 */
const endWhenSilent =
  (silenceMs: number) =>
  ({ connection: { stream } }: DriverClient): void => {
    stream.setTimeout(silenceMs, () => {
      stream.destroy(new Error(`Connection terminated after ${silenceMs} ms of silence`));
    });
  };
