/** Requests are counted over so long, sliding (API decisions 2.17). */
export const RATE_WINDOW_MS = 10_000;

export interface OperationLimit {
  /** Requests admitted within `RATE_WINDOW_MS`. */
  readonly rate: number;
  /** Requests in flight at one time; null: as many as come. */
  readonly concurrent: number | null;
}

/** The operations of the job API with their limits, for each endpoint, at least (API decisions 2.17). */
export const JOB_OPERATIONS = {
  runsync: { rate: 2_000, concurrent: 400 },
  run: { rate: 1_000, concurrent: 200 },
  status: { rate: 2_000, concurrent: 400 },
  stream: { rate: 2_000, concurrent: 400 },
  cancel: { rate: 100, concurrent: 20 },
  'purge-queue': { rate: 2, concurrent: null },
  openai: { rate: 2_000, concurrent: 400 },
  requests: { rate: 10, concurrent: 2 },
} as const satisfies Readonly<Record<string, OperationLimit>>;

/** Requests of one operation are counted together, whatever their path and verb. */
export type JobOperation = keyof typeof JOB_OPERATIONS;

export const isJobOperation = (text: string): text is JobOperation => Object.hasOwn(JOB_OPERATIONS, text);
