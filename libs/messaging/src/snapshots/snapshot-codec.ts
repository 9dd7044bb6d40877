import { readJson, type SnapshotShape } from '@berth/contracts';
import { readShape, unreadable, type Reading } from '@berth/domain/shape';
import { isSubjectToken } from '../topology/subject-token.js';

/** How one kind of snapshot is written as JSON and read again. */
export interface SnapshotCodec<Value> {
  /** The form in which `encode` writes; a reader refuses any other. Members may be added without a new one. */
  readonly version: number;
  /** A value that JSON can hold. */
  encode(value: Value): unknown;
  /** Never throws, whatever the JSON is. */
  decode(json: unknown, key: string): Reading<Value>;
}

interface Envelope {
  readonly v: number;
  readonly value: unknown;
}

export function encodeSnapshot<Value>(codec: SnapshotCodec<Value>, value: Value): string {
  const envelope: Envelope = { v: codec.version, value: codec.encode(value) };
  return JSON.stringify(envelope);
}

/** The value under a key, by any writer. */
export function decodeSnapshot<Value>(codec: SnapshotCodec<Value>, key: string, body: Uint8Array): Reading<Value> {
  if (!isSubjectToken(key)) return unreadable('its key is no id');
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  if (typeof json.value !== 'object' || json.value === null) return unreadable('it is no object');
  const { v, value } = json.value as Partial<Envelope>;
  if (v !== codec.version) return unreadable(`it is not of version ${codec.version}`);
  // A null is how readers tell each other that a key was removed.
  return value === undefined || value === null ? unreadable('it holds no value') : codec.decode(value, key);
}

/** For one kind of snapshot: a value that looks otherwise, or lies under another's key, is none. */
export const snapshotCodec = <Value>({ keyOf, shape }: SnapshotShape<Value>, version = 1): SnapshotCodec<Value> => ({
  version,
  encode: (value) => value,
  decode: (json, key) => {
    const reading = readShape<Value>(shape, json);
    if (reading.kind === 'unreadable' || keyOf(reading.value) === key) return reading;
    return unreadable('it names another key than its own');
  },
});

/** For writers, and for readers that look at whatever lies there. */
export const plainCodec = <Value>(version = 1): SnapshotCodec<Value> => ({
  version,
  encode: (value) => value,
  decode: (json) => ({ kind: 'value', value: json as Value }),
});
