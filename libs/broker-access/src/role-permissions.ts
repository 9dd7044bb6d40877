import {
  BUCKETS,
  CONTROL_HINT_SUBJECT,
  CONTROL_PULSE_SUBJECT,
  DEMAND_SUBJECTS,
  HISTORY_READ_SUBJECT,
  HISTORY_VERBS,
  HOST_VERBS,
  historySubject,
  hostDemandSubject,
  hostSubject,
  JOB_VERBS,
  jobSubject,
  logAnswerSubject,
  logsSubject,
  OPERATOR_INBOX,
  RATES_SUBJECTS,
  REQUEST_COUNTS_SUBJECTS,
  ROUTER_INBOX,
  inboxPrefix,
  withdrawSubject,
} from '@berth/contracts';
import type { NatsRole } from './nats-keys.js';

/**
 * Allow lists only: denied is what no list names. Answers stand in them too. The server's own way to allow them
 * (`allow_responses`) lets an answer go wherever the asker wants it, and an asker can be hostile.
 */
export interface RolePermissions {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
}

/** How many streams each family has; subjects carry the shard as their second token. */
export interface ShardCounts {
  /** `LOG_`. */
  readonly logs: number;
  /** `OUT_`, `BLOB_`. */
  readonly payloads: number;
  /** `CURSOR_`. */
  readonly cursors: number;
}

export const SHARD_COUNTS_DEFAULT: ShardCounts = { logs: 16, payloads: 16, cursors: 4 };

/** Where older versions kept jobs: a router that starts looks whether any are there. */
const OLD_STREAMS = numbered('JOBS', 16);

const BUCKET_NAMES = Object.values(BUCKETS);

/** Holds who owns which shard of the logs. */
const CLAIMS_STREAM = 'KV_shards';

/** The inbox of every host, and nothing else. */
const AGENT_INBOXES = `${inboxPrefix('*')}.>`;

/** Questions to the owner of a shard, what it tells those who watch a job, and whether a router's process is there. */
const BETWEEN_ROUTERS = ['shard.>', 'notice.>', 'router.*'];

/**
 * What each role may do, by name and never by pattern: `LOG_*` is not a wildcard to the server.
 * The router owns all that concerns jobs and reads the control plane's buckets; the control plane writes the buckets
 * and cannot touch a job. What routers say to each other nobody else says or hears. Those that hear agents (`sessions`,
 * `gateway`) may write to agents only.
 */
export const rolePermissions = (shards: ShardCounts): Readonly<Record<NatsRole, RolePermissions>> => ({
  management: controlPlane('management', {
    publish: [CONTROL_HINT_SUBJECT, `${ROUTER_INBOX}.>`],
    subscribe: HISTORY_VERBS.map(historySubject),
  }),
  sessions: heard(
    'sessions',
    [...HOST_VERBS.map((verb) => hostSubject('*', verb)), `${logAnswerSubject('*', '*')}.*`],
    [logsSubject('*')],
  ),
  controllers: controlPlane('controllers', {
    // The job history is made of the logs, which are read and never written here.
    publish: [CONTROL_PULSE_SUBJECT, HISTORY_READ_SUBJECT, ...numbered('LOG', shards.logs).flatMap(readStream)],
    subscribe: [CONTROL_HINT_SUBJECT, DEMAND_SUBJECTS, hostDemandSubject('*')],
  }),
  router: router(shards),
  gateway: heard('gateway', [...JOB_VERBS.map((verb) => jobSubject('*', verb)), withdrawSubject('*')]),
  backup: backup(shards),
  restore: restore(shards),
  // Where servers hear what they asked; answering them is all this user can do.
  callout: { publish: ['$SYS._INBOX.>'], subscribe: ['$SYS.REQ.USER.AUTH'] },
  system: {
    publish: ['$SYS.REQ.SERVER.PING.CONNZ', '$SYS.REQ.SERVER.*.CONNZ', '$SYS.REQ.SERVER.*.KICK'],
    subscribe: ['_INBOX_system.>'],
  },
  operator: operator(shards),
});

/** What a role may do over which a process hears agents. */
const heard = (role: NatsRole, subjects: readonly string[], asked: readonly string[] = []): RolePermissions => ({
  publish: [AGENT_INBOXES, ...asked],
  subscribe: [`_INBOX_${role}.>`, ...subjects],
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
    subscribe: [`_INBOX_${role}.>`, ...also.subscribe],
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
      ...OLD_STREAMS.map(informOf),
      'log.>',
      'cur.>',
      'out.>',
      'blob.>',
      ...BETWEEN_ROUTERS,
      '$KV.shards.>',
      // Owners answer other routers.
      `${ROUTER_INBOX}.>`,
      DEMAND_SUBJECTS,
      RATES_SUBJECTS,
      REQUEST_COUNTS_SUBJECTS,
      ...HISTORY_VERBS.map(historySubject),
      'agents.*.down.stop',
      'agents.*.down.gone',
      'agents.*.down.tunnel',
    ],
    subscribe: [
      `${ROUTER_INBOX}.>`,
      ...BETWEEN_ROUTERS,
      RATES_SUBJECTS,
      REQUEST_COUNTS_SUBJECTS,
      CONTROL_PULSE_SUBJECT,
      // How far the control plane has read the logs, which are let go of no sooner.
      'history.read',
    ],
  };
};

/** Questions only: how each stream is, what the logs hold, and who owns their shards. */
const operator = (shards: ShardCounts): RolePermissions => ({
  publish: [
    '$JS.API.INFO',
    ...[...jobStreamNames(shards), ...BUCKET_NAMES.map(bucketStream)].map(informOf),
    ...[...numbered('LOG', shards.logs), CLAIMS_STREAM].flatMap(readMessages),
  ],
  subscribe: [`${OPERATOR_INBOX}.>`],
});

/** Reads all that is the truth about jobs, and can change nothing. */
const backup = (shards: ShardCounts): RolePermissions => ({
  publish: [
    '$JS.API.INFO',
    ...copiedStreamNames(shards).flatMap(copyStream),
    informOf('KV_shards'),
    '$JS.API.STREAM.MSG.GET.KV_shards',
  ],
  subscribe: ['_INBOX_backup.>'],
});

/** Makes streams of jobs that are not there, and takes away those alone again. */
const restore = (shards: ShardCounts): RolePermissions => ({
  publish: [
    '$JS.API.INFO',
    ...copiedStreamNames(shards).flatMap(restoreStream),
    ...payloadStreamNames(shards).flatMap((stream) => [
      `$JS.API.DIRECT.GET.${stream}`,
      `$JS.API.STREAM.MSG.DELETE.${stream}`,
    ]),
    informOf('KV_shards'),
    '$JS.API.STREAM.CREATE.KV_shards',
    '$JS.API.STREAM.DELETE.KV_shards',
    '$KV.shards.claim.*',
  ],
  subscribe: ['_INBOX_restore.>'],
});

const payloadStreamNames = (shards: ShardCounts): string[] =>
  ['OUT', 'BLOB'].flatMap((family) => numbered(family, shards.payloads));

/** What processes in memory, and a new owner, make by themselves is not copied. */
const copiedStreamNames = (shards: ShardCounts): string[] => [
  ...numbered('LOG', shards.logs),
  ...payloadStreamNames(shards),
];

const copyStream = (stream: string): string[] => [
  informOf(stream),
  `$JS.API.STREAM.SNAPSHOT.${stream}`,
  // Says to the broker that a piece has arrived.
  `$JS.SNAPSHOT.ACK.${stream}.>`,
];

const restoreStream = (stream: string): string[] => [
  informOf(stream),
  `$JS.API.STREAM.RESTORE.${stream}`,
  `$JS.SNAPSHOT.RESTORE.${stream}.*`,
  `$JS.API.STREAM.DELETE.${stream}`,
];

const jobStreamNames = (shards: ShardCounts): string[] => [
  ...numbered('LOG', shards.logs),
  ...payloadStreamNames(shards),
  ...numbered('CURSOR', shards.cursors),
  CLAIMS_STREAM,
];

function numbered(family: string, count: number): string[] {
  return Array.from({ length: count }, (_, shard) => `${family}_${String(shard)}`);
}

const bucketStream = (bucket: string): string => `KV_${bucket}`;

const setUpStream = (stream: string): string[] => [
  `$JS.API.STREAM.CREATE.${stream}`,
  `$JS.API.STREAM.UPDATE.${stream}`,
];

const informOf = (stream: string): string => `$JS.API.STREAM.INFO.${stream}`;

const readMessages = (stream: string): string[] => [
  `$JS.API.STREAM.MSG.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}`,
  `$JS.API.DIRECT.GET.${stream}.>`,
];

/** Single reads, from the leader or directly, and consumers without acknowledgement. */
const readStream = (stream: string): string[] => [
  informOf(stream),
  ...readMessages(stream),
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
];

const removeFromStream = (stream: string): string[] => [
  `$JS.API.STREAM.MSG.DELETE.${stream}`,
  `$JS.API.STREAM.PURGE.${stream}`,
];
