import type { EndpointId } from '@berth/domain';
import { count, id, listOf, objectOf, readJson, readShape, text, type Shape } from '@berth/contracts';

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

const ROW_LENGTH = 6;

/** An id of the greatest length and counters of ten digits still make less than 512 KB. */
const ENDPOINTS_PER_PART = 2_000;

export const encodeHead = (head: Omit<CheckpointHead, 'v'>): string => JSON.stringify({ v: VERSION, ...head });

const SHARDS_MAX = 4_096;
/** A reader asks for each part: as many as a hundred million endpoints need. */
const PARTS_MAX = 50_000;

const HEAD = objectOf<CheckpointHead>({
  v: count,
  id,
  parts: count,
  evSequence: count,
  evCreated: text(),
  recordSequences: listOf(count, SHARDS_MAX),
});

/** Null: not in a form that this process knows, which is as good as none. */
export function decodeHead(body: Uint8Array): CheckpointHead | null {
  const head = decodeAs<CheckpointHead>(HEAD, body);
  return head !== null && (head.v as number) === VERSION && head.parts <= PARTS_MAX ? head : null;
}

function decodeAs<Value>(shape: Shape, body: Uint8Array): Value | null {
  const json = readJson(body);
  const reading = json.kind === 'value' ? readShape<Value>(shape, json.value) : json;
  return reading.kind === 'value' ? reading.value : null;
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

/** A row of an id and five counts. */
const row: Shape = (value, path) => {
  if (!Array.isArray(value) || value.length !== ROW_LENGTH) return `${path} is no row`;
  const [endpointId, ...counts] = value as readonly unknown[];
  return id(endpointId, path) ?? listOf(count, ROW_LENGTH)(counts, path);
};

/** Null for a part that cannot be read, as for one that is not there. */
export function decodePart(body: Uint8Array): readonly (readonly [EndpointId, JobCounters])[] | null {
  const rows = decodeAs<readonly Row[]>(listOf(row, ENDPOINTS_PER_PART), body);
  if (rows === null) return null;
  return rows.map(([id, completed, failed, cancelled, timedOut, retried]) => [
    id,
    { completed, failed, cancelled, timedOut, retried },
  ]);
}
