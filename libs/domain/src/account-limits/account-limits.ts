import { MIB, GIB } from '../units/index.js';
import { CHUNK_MAX_BYTES } from '../job/index.js';

/** One limit of an account. */
export interface AccountLimit {
  /** What is counted, in the words of the interface: a sentence. */
  readonly meaning: string;
  /** Of an account for which nobody has set another value. */
  readonly default: number;
  /** The least and the most that an operator may set. */
  readonly minimum: number;
  readonly maximum: number;
  /** What a caller is told who would exceed it, without a full stop. */
  readonly reached: (limit: number) => string;
}

/**
 * How much an account may have of each thing at one time: the one table of these limits. The names are the interface's own;
 * what counts for less than the whole account says so at its end.
 */
export const ACCOUNT_LIMITS = {
  /** Default: a tenth of the most, so that no account fills an installation by itself. */
  endpoints: {
    meaning: 'Endpoints of the account. Those that are there when it is lowered stay.',
    default: 1_000,
    minimum: 1,
    maximum: 10_000,
    reached: (limit) => `The account may have ${limit} endpoints`,
  },
  /** Default: what one endpoint may ask for at most. */
  workers: {
    meaning: 'Workers of the account, those that leave included. Those that are there when it is lowered stay.',
    default: 1_000,
    minimum: 1,
    maximum: 100_000,
    reached: (limit) => `The account may have ${limit} workers`,
  },
  gpus: {
    meaning: "GPUs of the account's workers. Workers that are there when it is lowered stay.",
    default: 1_000,
    minimum: 1,
    maximum: 100_000,
    reached: (limit) => `The account may have ${limit} GPUs`,
  },
  /** Default: twenty-five of the largest network volumes (4,000 GB). */
  volumeGb: {
    meaning: 'GB of the network volumes of the account. Those that are there when it is lowered stay.',
    default: 100_000,
    minimum: 1,
    maximum: 100_000_000,
    reached: (limit) => `The network volumes of the account may have ${limit} GB`,
  },
  /** Waiting, running, and ended for so short a time that they can still be read. */
  jobsPerEndpoint: {
    meaning: 'Jobs of one endpoint that wait, run, or have ended and can still be read.',
    default: 100_000,
    minimum: 1,
    maximum: 1_000_000,
    reached: (limit) => `The endpoint may have ${limit} jobs, those that ended lately included`,
  },
  /** Inputs and outputs of these jobs. Minimum: the largest body of one job finds room. */
  payloadBytesPerEndpoint: {
    meaning: 'Bytes of the inputs and outputs of these jobs.',
    default: 4 * GIB,
    minimum: 20 * MIB,
    maximum: 1024 * GIB,
    reached: (limit) => `Inputs and outputs of the endpoint's jobs may take ${limit} bytes`,
  },
  /** Those of job requests, each for 24 hours. */
  idempotencyKeysPerEndpoint: {
    meaning: 'Keys in `Idempotency-Key` with jobs of one endpoint within 24 hours.',
    default: 100_000,
    minimum: 1,
    maximum: 1_000_000,
    reached: (limit) => `The endpoint may have ${limit} idempotency keys within 24 hours`,
  },
  /** Webhooks of ended jobs that are still to be told. */
  pendingDeliveriesPerEndpoint: {
    meaning: 'Webhooks of ended jobs of one endpoint that are still to be told.',
    default: 10_000,
    minimum: 1,
    maximum: 100_000,
    reached: (limit) => `The endpoint may have ${limit} webhooks that are still to be told`,
  },
  /** Default: half of the room in one of the streams of chunks, by the default storage (16 GiB). Minimum: one chunk. */
  chunkBytesPerAttempt: {
    meaning: 'Bytes that one attempt at a job streams.',
    default: 64 * MIB,
    minimum: CHUNK_MAX_BYTES,
    maximum: 4 * GIB,
    reached: (limit) => `What one attempt streams may take ${limit} bytes`,
  },
  /** Default: half of what all chunks together may take by the default storage. */
  chunkBytes: {
    meaning: 'Bytes that jobs of the account have streamed, as long as they can be read.',
    default: GIB,
    minimum: CHUNK_MAX_BYTES,
    maximum: 1024 * GIB,
    reached: (limit) => `What the account's jobs have streamed may take ${limit} bytes`,
  },
  /** Default: half of the connections with a key that one router has room for. Maximum: all calls that it holds. */
  heldCallsPerRouter: {
    meaning: 'Calls of the account that one router holds, such as `/runsync`.',
    default: 5_000,
    minimum: 1,
    maximum: 20_000,
    reached: (limit) => `The account may have ${limit} calls held at one router`,
  },
} as const satisfies Readonly<Record<string, AccountLimit>>;

export type AccountLimitName = keyof typeof ACCOUNT_LIMITS;

/** Every limit with the value that counts. */
export type AccountLimits = Readonly<Record<AccountLimitName, number>>;

/** What an operator has set for one account. What is absent is at its default, whatever that is in this version. */
export type LimitOverrides = Readonly<Partial<Record<AccountLimitName, number>>>;

export const ACCOUNT_LIMIT_NAMES = Object.keys(ACCOUNT_LIMITS) as readonly AccountLimitName[];
