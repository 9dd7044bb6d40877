import type { JobId } from '../../ids.js';
import type { Payload } from '../../job/index.js';
import { encodeJson } from '../../json/index.js';
import { utf8Bytes } from '../../text/index.js';
import { BATCH_MAX_BYTES } from '../bounds.js';
import type { CarriedFact, TotalsFact } from '../facts.js';
import type { JobBody } from '../job-data.js';
import type { CarriedItem, DeliveryRecord, EndpointState, LivingJob } from '../state.js';

/** A payload that is not kept in memory, and the batch of the log in which its owner's fact has it. */
export interface LogReference {
  readonly part: 'body' | 'output';
  readonly jobId: JobId;
  /** Of which attempt, for an output. */
  readonly attempt: number;
  readonly sequence: number;
}

/** The payloads that were read of the log for a carry. */
export interface LogReader {
  readonly body: (reference: LogReference) => JobBody | undefined;
  readonly output: (reference: LogReference) => Payload | undefined;
}

export type Carry =
  | {
      readonly kind: 'carried';
      /** One batch: what is living, then the totals. */
      readonly facts: readonly (CarriedFact | TotalsFact)[];
      /** The log may be purged up to here, once the batch is committed. */
      readonly covers: number;
    }
  /** To be read, and the carry decided anew. */
  | { readonly kind: 'unread'; readonly references: readonly LogReference[] }
  /** Most of the part that a carry could cover is alive. */
  | { readonly kind: 'not-worth' }
  | { readonly kind: 'nothing' };

export interface CarryFrame {
  readonly atMs: number;
  /** The last sequence that may be covered: its batch is `CARRY_AGE_MIN_MS` old, or older. */
  readonly through: number;
  readonly log: LogReader;
  /** Whether it is worth it to write that many bytes so that the log may begin behind that sequence. */
  readonly isWorth: (covers: number, writtenBytes: number) => boolean;
}

/** The bytes that the totals take of a batch, at most: they have a bound of their own. */
const TOTALS_MAX_BYTES = 8 * 1024;

/** Items that one carry looks at: a batch holds no more of even the smallest. */
const ITEMS_MAX = 4_096;

/**
 * Writes whole once more what was last written whole in the oldest batches of the log, as much as one batch holds, so
 * that those batches may be purged. Younger batches stay: a replay that began behind them would not know what is remembered
 * for a moment only.
 */
export function decideCarry(state: EndpointState, frame: CarryFrame): Carry {
  if (state.isDeleted || !state.isWhole) return { kind: 'nothing' };
  const { covers, facts, unread, writtenBytes } = gather(state, frame);
  if (facts.length + unread.length === 0 && covers <= state.covers) return { kind: 'nothing' };
  if (!frame.isWorth(covers, writtenBytes)) return { kind: 'not-worth' };
  if (unread.length > 0) return { kind: 'unread', references: unread };
  return { kind: 'carried', facts: [...facts, totalsOf(state, { atMs: frame.atMs, covers })], covers };
}

interface Gathered {
  readonly facts: readonly CarriedFact[];
  readonly unread: readonly LogReference[];
  readonly covers: number;
  readonly writtenBytes: number;
}

const CARRIED_MAX_BYTES = BATCH_MAX_BYTES - TOTALS_MAX_BYTES;

function gather(state: EndpointState, { atMs, log, through }: CarryFrame): Gathered {
  const unread: LogReference[] = [];
  const facts: CarriedFact[] = [];
  let writtenBytes = 0;
  for (const item of state.whole.values()) {
    const { sequence } = item.place;
    if (sequence === null || sequence > through) break;
    const written = writeWhole(item, { atMs, log });
    const bytes = bytesOf(item, written);
    const hasRoom = writtenBytes + bytes <= CARRIED_MAX_BYTES || facts.length + unread.length === 0;
    if (!hasRoom || facts.length === ITEMS_MAX || !isCommitted(item)) {
      // The other things in that batch keep it from being covered; those of them that are carried already are carried
      // for good.
      return { facts, unread, covers: sequence - 1, writtenBytes };
    }
    writtenBytes += bytes;
    if ('missing' in written) unread.push(...written.missing);
    else facts.push(written);
  }
  return { facts, unread, covers: through, writtenBytes };
}

const UNREAD: LogReader = { body: () => undefined, output: () => undefined };

/** Bytes that everything living would take, written whole: about, where payloads are not in memory. */
export function livingLogBytes(state: EndpointState): number {
  let bytes = 0;
  for (const item of state.whole.values()) {
    bytes += bytesOf(item, writeWhole(item, { atMs: state.lastAtMs, log: UNREAD }));
  }
  return bytes;
}

/** False where an output that is not kept in memory cannot be read either: its batch is still on its way. */
const isCommitted = (item: CarriedItem): boolean =>
  item.what === 'key' || item.output !== null || item.outputPlace === null || item.outputPlace.sequence !== null;

/** Of what could not be read yet, about as many as it will take. */
function bytesOf(item: CarriedItem, written: CarriedFact | Missing): number {
  if (!('missing' in written)) return utf8Bytes(encodeJson(written)) + 1;
  const data = item.what === 'delivery' ? item.data.told : item.what === 'job' ? item.data : null;
  return (data?.bodyBytes ?? 0) + (data?.outputBytes ?? 0);
}

interface Missing {
  readonly missing: readonly LogReference[];
}

type Writing = Pick<CarryFrame, 'atMs' | 'log'>;

function writeWhole(item: CarriedItem, writing: Writing): CarriedFact | Missing {
  switch (item.what) {
    case 'job':
      return writeJob(item, writing);
    case 'key':
      return { kind: 'carried', atMs: writing.atMs, what: 'key', key: item.data };
    case 'delivery':
      return writeDelivery(item, writing);
    default:
      return item satisfies never;
  }
}

function writeJob(job: LivingJob, { atMs, log }: Writing): CarriedFact | Missing {
  const references = referencesOf(job);
  const body = job.body ?? (references.body && log.body(references.body));
  const output = job.output ?? (references.output && log.output(references.output)) ?? null;
  if (body == null || (references.output !== null && output === null)) return missing(references);
  const data = { ...job.data, current: job.data.current && { ...job.data.current } };
  return { kind: 'carried', atMs, what: 'job', job: data, body, output };
}

function writeDelivery(delivery: DeliveryRecord, { atMs, log }: Writing): CarriedFact | Missing {
  if (delivery.data.told === null) {
    return { kind: 'carried', atMs, what: 'delivery', delivery: delivery.data, body: null, output: null };
  }
  const references = referencesOf(delivery);
  const body = delivery.body ?? (references.body && log.body(references.body));
  const output = delivery.output ?? (references.output && log.output(references.output)) ?? null;
  if (body == null || (references.output !== null && output === null)) return missing(references);
  return { kind: 'carried', atMs, what: 'delivery', delivery: delivery.data, body, output };
}

interface References {
  readonly body: LogReference | null;
  readonly output: LogReference | null;
}

const missing = ({ body, output }: References): Missing => ({
  missing: [body, output].filter((reference) => reference !== null),
});

/** Where the payloads lie that are not in memory. Those of a batch that is not committed cannot be read, and need not be. */
function referencesOf(item: LivingJob | DeliveryRecord): References {
  const { attempt, jobId } = item.data;
  const { body, output, outputPlace, place } = item;
  const of = (part: LogReference['part'], sequence: number | null): LogReference | null =>
    sequence === null ? null : { part, jobId, attempt, sequence };
  return {
    body: body === null ? of('body', place.sequence) : null,
    output: output === null && outputPlace !== null ? of('output', outputPlace.sequence) : null,
  };
}

const totalsOf = (
  { counters, lastPurge, nextOrdinal, pace, term }: EndpointState,
  { atMs, covers }: { readonly atMs: number; readonly covers: number },
): TotalsFact => ({
  kind: 'totals',
  atMs,
  covers,
  counters: { ...counters },
  life: { term, nextOrdinal, lastPurge, pace: pace.seconds() },
});
