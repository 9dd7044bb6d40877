import type { EndpointId } from '@berth/domain';
import { decodeText } from '../broker/text.js';

/** What was counted at an endpoint since its first job. */
export interface JobCounters {
  readonly completed: number;
  readonly failed: number;
  readonly cancelled: number;
  readonly timedOut: number;
  /** Requeues, automatic and by `/retry`. */
  readonly retried: number;
}

/** The counters of all endpoints, and what is counted in them. */
export interface CounterCheckpoint {
  /** Place in `EV` from which on events are still to be told; 0 where they are those of another `EV`. */
  readonly evSequence: number;
  /** By job shard: every milestone up to this version of a record is counted, and none behind it. */
  readonly recordSequences: readonly number[];
  readonly endpoints: ReadonlyMap<EndpointId, JobCounters>;
}

const VERSION = 1;

/** Names the parts of one checkpoint. Only with all of them it is one. */
export interface CheckpointHead extends Pick<CounterCheckpoint, 'evSequence' | 'recordSequences'> {
  readonly v: typeof VERSION;
  readonly id: string;
  readonly parts: number;
  /** When `EV` was made: another instant means other numbers. */
  readonly evCreated: string;
}

type Row = readonly [EndpointId, number, number, number, number, number];

/** An id of the greatest length and counters of ten digits still make less than 512 KB. */
const ENDPOINTS_PER_PART = 2_000;

export const encodeHead = (head: Omit<CheckpointHead, 'v'>): string => JSON.stringify({ v: VERSION, ...head });

/** Null: written in a form that this process does not know, which is as good as none. */
export function decodeHead(body: Uint8Array): CheckpointHead | null {
  const head = JSON.parse(decodeText(body)) as CheckpointHead;
  return (head.v as number) === VERSION ? head : null;
}

export function encodeParts(endpoints: ReadonlyMap<EndpointId, JobCounters>): readonly string[] {
  const rows = [...endpoints].map(([id, { completed, failed, cancelled, timedOut, retried }]): Row => [
    id,
    completed,
    failed,
    cancelled,
    timedOut,
    retried,
  ]);
  const count = Math.ceil(rows.length / ENDPOINTS_PER_PART);
  return Array.from({ length: count }, (_, part) =>
    JSON.stringify(rows.slice(part * ENDPOINTS_PER_PART, (part + 1) * ENDPOINTS_PER_PART)),
  );
}

export function decodePart(body: Uint8Array): readonly (readonly [EndpointId, JobCounters])[] {
  const rows = JSON.parse(decodeText(body)) as readonly Row[];
  return rows.map(([id, completed, failed, cancelled, timedOut, retried]) => [
    id,
    { completed, failed, cancelled, timedOut, retried },
  ]);
}
