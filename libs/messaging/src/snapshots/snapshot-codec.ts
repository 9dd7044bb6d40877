/** How one kind of snapshot is written as JSON and read again. */
export interface SnapshotCodec<Value> {
  /** The form in which `encode` writes; a reader refuses any other. Members may be added without a new one. */
  readonly version: number;
  /** A value that JSON can hold. */
  encode(value: Value): unknown;
  /** @throws Error when the JSON is not what this kind looks like */
  decode(json: unknown): Value;
}

interface Envelope {
  readonly v: number;
  readonly value: unknown;
}

export function encodeSnapshot<Value>(codec: SnapshotCodec<Value>, value: Value): string {
  const envelope: Envelope = { v: codec.version, value: codec.encode(value) };
  return JSON.stringify(envelope);
}

/** @throws Error when it was written in another version, or does not read as its kind */
export function decodeSnapshot<Value>(codec: SnapshotCodec<Value>, text: string): Value {
  const { v, value } = JSON.parse(text) as Envelope;
  if (v !== codec.version) throw new Error(`snapshot of version ${String(v)}: this process reads ${codec.version}`);
  return codec.decode(value);
}

/** For shapes that are plain JSON as they are. */
export const plainCodec = <Value>(version = 1): SnapshotCodec<Value> => ({
  version,
  encode: (value) => value,
  decode: (json) => json as Value,
});
