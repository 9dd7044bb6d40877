import { ACCOUNT_LIMITS_DEFAULT, type AccountLimits } from '../account-limits/index.js';

/** Longest texts of a fact, in bytes of UTF-8. A longer text is cut before it becomes a fact. */
export const FACT_ERROR_MAX_BYTES = 4 * 1024;
/** Why one attempt of several is over: the history of a job that was tried again keeps many of them. */
export const REASON_MAX_BYTES = 256;
export const LOG_TAIL_MAX_BYTES = 4 * 1024;
/** JSON text of the members that an end carries for the job history. */
export const SUMMARY_MAX_BYTES = 1024;
/** Scheme, the longest name that a host can have, and port. */
export const WEBHOOK_ORIGIN_MAX_BYTES = 272;
/** Why one try of a delivery was no success. */
export const TRY_ERROR_MAX_BYTES = 256;

/** An output above this is stored beside the log. Escaped within its fact, with input and history, it stays below a batch. */
export const OUTPUT_MAX_BYTES = 64 * 1024;

/** Facts of one message of the log, as text, in bytes. */
export const BATCH_MAX_BYTES = 512 * 1024;

/** UTF-16 units of a body or an output up to which it is kept in memory; what is longer is read where it lies in the log. */
export const KEPT_MAX_UNITS = 256;

/** A command is told apart from its repetition by what the log keeps, and that ends; its sender has given up by then. */
export const COMMAND_MAX_AGE_MS = 10_000;
/** Takes and the ids of jobs that were removed young are remembered for longer than any command lives. */
export const REPEAT_KEPT_MS = 20_000;
export const REPEATS_MAX = 100_000;

/** How long an idempotency key is remembered (API decisions 1.6). */
export const KEY_KEPT_MS = 24 * 3_600_000;
/** How long, and how many of one endpoint's, deliveries that are over are told. */
export const DELIVERY_KEPT_MS = 24 * 3_600_000;
export const DELIVERIES_KEPT_MAX = 1_000;

/** An attempt without a renewal for this long is lost; the host's own trust ends five seconds sooner. */
export const ATTEMPT_LEASE_MS = 30_000;
/** How often a host renews what it holds. */
export const RENEW_INTERVAL_MS = 10_000;
/** No holder renews sooner after a take or a renewal. */
export const RENEW_EARLIEST_MS = 5_000;
/** After the last renewal that was acknowledged, counted from its sending, a host stops the job by itself. */
export const LEASE_TRUST_MS = 25_000;
/** After a standstill of the owner hosts get this long to say what they hold. */
export const HEARING_MS = 15_000;
/** A renewal this long after the take says that the worker is at it. */
export const STARTED_AFTER_MS = 5_000;
/** An attempt that was lost before it started is nobody's fault; the third in a row is the job's. */
export const UNSTARTED_MAX = 3;
/** How long past the deadline the owner waits for the host's own word. */
export const TIMEOUT_GRACE_MS = 15_000;
/** Between two facts of progress of one job. */
export const PROGRESS_INTERVAL_MS = 1_000;

/** Jobs that one request may submit, and jobs that one wish may get. */
export const SUBMIT_JOBS_MAX = 1_000;
export const TAKE_SLOTS_MAX = 64;

/** Jobs that one rule removes, and steps that one look at what is due takes: a slice of a few milliseconds. */
export const SLICE_MAX = 512;

/** No batch younger than this is carried: everything that is remembered for a moment lies behind it in the log. */
export const CARRY_AGE_MIN_MS = 120_000;

/** A tenant's share of one endpoint (ADR 0043). */
export interface EndpointBounds {
  readonly livingJobs: number;
  /** Inputs and outputs of living jobs, in bytes. */
  readonly livingBytes: number;
  readonly keys: number;
  /** Deliveries that are not over, and living jobs that may bring one are not counted. */
  readonly pendingDeliveries: number;
}

/** The bounds that the limits of an account leave to each of its endpoints. */
export const endpointBounds = (limits: AccountLimits): EndpointBounds => ({
  livingJobs: limits.jobsPerEndpoint,
  livingBytes: limits.payloadBytesPerEndpoint,
  keys: limits.idempotencyKeysPerEndpoint,
  pendingDeliveries: limits.pendingDeliveriesPerEndpoint,
});

export const ENDPOINT_BOUNDS_DEFAULT: EndpointBounds = endpointBounds(ACCOUNT_LIMITS_DEFAULT);
