/** A promise about something that a client did with a job besides waiting for its end. */
export interface BrokenOperation {
  readonly promise:
    | 'ended-otherwise-after-its-cancel'
    | 'two-jobs-for-one-key'
    | 'gone-before-its-end'
    | 'found-after-its-end'
    | 'never-told'
    | 'told-too-often'
    | 'told-under-two-ids'
    | 'told-another-end'
    | 'stream-with-a-gap'
    | 'purge-miscounted';
  /** A job's id, a key, or an endpoint's. */
  readonly subject: string;
  readonly detail: string;
}

const broken = (promise: BrokenOperation['promise'], subject: string, detail: string): BrokenOperation[] => [
  { promise, subject, detail },
];

/** A job whose cancel was answered with `CANCELLED`. */
export interface CancelledJob {
  readonly jobId: string;
  /** What reads that were made after that answer showed; null: 404. */
  readonly laterStatuses: readonly (string | null)[];
}

export function checkCancel({ jobId, laterStatuses }: CancelledJob): readonly BrokenOperation[] {
  const other = laterStatuses.find((status) => status !== 'CANCELLED');
  if (other === undefined) return [];
  return broken('ended-otherwise-after-its-cancel', jobId, `shown as ${other ?? '404'} later`);
}

/** One request that was sent again and again under one idempotency key, until it was answered and beyond. */
export interface KeyedRequest {
  readonly key: string;
  /** Of every answer. */
  readonly jobIds: readonly string[];
}

export function checkKey({ jobIds, key }: KeyedRequest): readonly BrokenOperation[] {
  const ids = new Set(jobIds);
  return ids.size > 1 ? broken('two-jobs-for-one-key', key, [...ids].join(' and ')) : [];
}

/** A job with a time to live. It began between the sending of its request and the answer. Instants are Unix ms. */
export interface ShortLivedJob {
  readonly jobId: string;
  readonly sentAtMs: number;
  readonly acceptedAtMs: number;
  readonly ttlMs: number;
  readonly reads: readonly { readonly askedAtMs: number; readonly answeredAtMs: number; readonly isFound: boolean }[];
}

/** Within this time after its end a job must be gone (API decisions 2.5). */
const GONE_WITHIN_MS = 2_000;

export function checkLife({ acceptedAtMs, jobId, reads, sentAtMs, ttlMs }: ShortLivedJob): readonly BrokenOperation[] {
  const early = reads.find(({ answeredAtMs, isFound }) => !isFound && answeredAtMs < sentAtMs + ttlMs);
  const late = reads.find(({ askedAtMs, isFound }) => isFound && askedAtMs > acceptedAtMs + ttlMs + GONE_WITHIN_MS);
  return [
    ...(early ? broken('gone-before-its-end', jobId, `${sentAtMs + ttlMs - early.answeredAtMs} ms too early`) : []),
    ...(late ? broken('found-after-its-end', jobId, `${late.askedAtMs - acceptedAtMs - ttlMs} ms too late`) : []),
  ];
}

/** An ended job of which a receiver that always answers 200 was to be told. */
export interface ToldJob {
  readonly jobId: string;
  /** As the API shows it at last. */
  readonly status: string;
  readonly calls: readonly { readonly webhookId: string; readonly status: string }[];
}

/** A router that died between the receiver's 200 and the fact that says so tells again, so more than one call is no fault. */
const CALLS_MAX = 3;

export function checkTold({ calls, jobId, status }: ToldJob): readonly BrokenOperation[] {
  if (calls.length === 0) return broken('never-told', jobId, `ended ${status}`);
  const ids = new Set(calls.map(({ webhookId }) => webhookId));
  const other = calls.find((call) => call.status !== status);
  return [
    ...(calls.length > CALLS_MAX ? broken('told-too-often', jobId, `${calls.length} calls`) : []),
    ...(ids.size > 1 ? broken('told-under-two-ids', jobId, [...ids].join(' and ')) : []),
    ...(other ? broken('told-another-end', jobId, `told ${other.status}, is ${status}`) : []),
  ];
}

/** What a reader that broke off and resumed had in the end, after it dropped what was void. */
export interface StreamReading {
  readonly jobId: string;
  /** The number of chunks that each execution streams. */
  readonly wanted: number;
  readonly chunks: readonly { readonly execution: string; readonly index: number }[];
}

export function checkStream({ chunks, jobId, wanted }: StreamReading): readonly BrokenOperation[] {
  const isWhole = chunks.length === wanted && chunks.every(({ index }, place) => index === place);
  const executions = new Set(chunks.map(({ execution }) => execution));
  if (isWhole && executions.size <= 1) return [];
  const shown = chunks.map(({ execution, index }) => `${execution.slice(0, 4)}/${index}`).join(' ');
  return broken('stream-with-a-gap', jobId, `${shown} of ${wanted}`);
}

/** The queue of an endpoint that nobody takes from, filled and purged side by side. */
export interface PurgedQueue {
  readonly endpointId: string;
  /** Jobs whose acceptance was answered, and of them those that are gone at last. */
  readonly accepted: number;
  readonly gone: number;
  /** Requests whose answer was lost: such a job may have been there. */
  readonly unknownSubmits: number;
  /** The sum that the answered purges named. */
  readonly removed: number;
  /** Purges whose answer was lost. */
  readonly unknownPurges: number;
}

export function checkPurges(queue: PurgedQueue): readonly BrokenOperation[] {
  const { accepted, endpointId, gone, removed, unknownPurges, unknownSubmits } = queue;
  const isTooMuch = removed > gone + unknownSubmits;
  const isTooLittle = unknownPurges === 0 && removed < gone;
  if (!isTooMuch && !isTooLittle) return [];
  const unknown = `${unknownSubmits} submits and ${unknownPurges} purges without an answer`;
  return broken('purge-miscounted', endpointId, `${removed} named, ${gone} of ${accepted} gone; ${unknown}`);
}
