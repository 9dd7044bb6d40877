import {
  BUCKETS,
  CONTROL_HINT_SUBJECT,
  CONTROL_PULSE_SUBJECT,
  DEMAND_SUBJECTS,
  HISTORY_VERBS,
  HOST_VERBS,
  historySubject,
  hostSubject,
  JOB_VERBS,
  jobSubject,
  RATES_SUBJECTS,
  withdrawSubject,
} from '@berth/contracts';
import type { NatsRole } from './nats-keys.js';

/** Allow lists only: denied is what no list names. */
export interface RolePermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** May answer each message it receives once, on whatever subject the asker named, within this time. */
  readonly answersWithin?: string;
}

/** How many streams each family has; subjects carry the shard as their second token. */
export interface ShardCounts {
  /** `JOBS_`, `OUT_`, `BLOB_`, `IDEM_`. */
  readonly jobs: number;
  /** `QUEUE_`, `LEASE_`, `CURSOR_`, `WEBHOOKS_`. */
  readonly queues: number;
}

export const SHARD_COUNTS_DEFAULT: ShardCounts = { jobs: 16, queues: 4 };

const BUCKET_NAMES = Object.values(BUCKETS);

/** Three times as long as the longest question is held: a `take` waits for a job for at most 20 s. */
const ANSWERS_WITHIN = '1m';

/**
 * What each role may do, by name and never by pattern: `JOBS_*` is not a wildcard to the server.
 * The router owns all that concerns jobs and reads the control plane's buckets; the control plane writes the buckets
 * and cannot touch a job.
 */
export const rolePermissions = (shards: ShardCounts): Readonly<Record<NatsRole, RolePermissions>> => ({
  management: controlPlane('management', {
    publish: [CONTROL_HINT_SUBJECT],
    subscribe: HISTORY_VERBS.map(historySubject),
  }),
  controllers: controlPlane('controllers', {
    // The job history is made of the records and of their events, which are read and never written here.
    publish: [CONTROL_PULSE_SUBJECT, ...[...numbered('JOBS', shards.jobs), 'EV'].flatMap(readStream)],
    subscribe: [CONTROL_HINT_SUBJECT, DEMAND_SUBJECTS],
  }),
  router: router(shards),
  // The server's question names a reply subject of its own; answering is all this user can do.
  callout: { publish: [], subscribe: ['$SYS.REQ.USER.AUTH'], answersWithin: '1m' },
  system: {
    publish: ['$SYS.REQ.SERVER.PING.CONNZ', '$SYS.REQ.SERVER.*.CONNZ', '$SYS.REQ.SERVER.*.KICK'],
    subscribe: ['_INBOX_system.>'],
  },
});

const controlPlane = (role: NatsRole, also: RolePermissions): RolePermissions => {
  const streams = BUCKET_NAMES.map(bucketStream);
  return {
    publish: [
      '$JS.API.INFO',
      ...streams.flatMap(setUpStream),
      ...streams.flatMap(readStream),
      ...BUCKET_NAMES.map((bucket) => `$KV.${bucket}.>`),
      'agents.*.down.wake',
      ...also.publish,
    ],
    subscribe: [`_INBOX_${role}.>`, ...HOST_VERBS.map((verb) => hostSubject('*', verb)), ...also.subscribe],
    answersWithin: ANSWERS_WITHIN,
  };
};

const router = (shards: ShardCounts): RolePermissions => {
  const jobStreams = jobStreamNames(shards);
  return {
    publish: [
      '$JS.API.INFO',
      ...jobStreams.flatMap(setUpStream),
      ...jobStreams.flatMap(readStream),
      ...jobStreams.flatMap(removeFromStream),
      ...BUCKET_NAMES.map(bucketStream).flatMap(readStream),
      'job.>',
      'q.>',
      'lease.>',
      'cur.>',
      'out.>',
      'blob.>',
      'idem.>',
      'hook.>',
      'check.>',
      // A chunk rings by hand: the broker tells of records only.
      'jobn.>',
      DEMAND_SUBJECTS,
      RATES_SUBJECTS,
      ...HISTORY_VERBS.map(historySubject),
      'agents.*.down.stop',
    ],
    subscribe: [
      '_INBOX_router.>',
      'jobn.>',
      'qn.>',
      RATES_SUBJECTS,
      CONTROL_PULSE_SUBJECT,
      ...JOB_VERBS.map((verb) => jobSubject('*', verb)),
      withdrawSubject('*'),
    ],
    answersWithin: ANSWERS_WITHIN,
  };
};

const jobStreamNames = (shards: ShardCounts): string[] => [
  ...['JOBS', 'OUT', 'BLOB', 'IDEM'].flatMap((family) => numbered(family, shards.jobs)),
  ...['QUEUE', 'LEASE', 'CURSOR', 'WEBHOOKS'].flatMap((family) => numbered(family, shards.queues)),
  'EV',
  'CHECKPOINT',
];

const numbered = (family: string, count: number): string[] =>
  Array.from({ length: count }, (_, shard) => `${family}_${String(shard)}`);

const bucketStream = (bucket: string): string => `KV_${bucket}`;

const setUpStream = (stream: string): string[] => [
  `$JS.API.STREAM.CREATE.${stream}`,
  `$JS.API.STREAM.UPDATE.${stream}`,
];

/** Single reads, from the leader or directly, and consumers without acknowledgement. */
const readStream = (stream: string): string[] => [
  `$JS.API.STREAM.INFO.${stream}`,
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
];

const removeFromStream = (stream: string): string[] => [
  `$JS.API.STREAM.MSG.DELETE.${stream}`,
  `$JS.API.STREAM.PURGE.${stream}`,
];
