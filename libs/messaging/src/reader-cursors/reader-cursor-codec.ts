import { readJson } from '@berth/contracts';
import { count, objectOf, readAs, readShape, unreadable, type Reading } from '@berth/domain/shape';
import type { StreamCursor } from '@berth/payloads';

const VERSION = 1;

interface ReaderCursorV1 extends StreamCursor {
  readonly v: typeof VERSION;
}

const SHAPE = objectOf<ReaderCursorV1>({ v: count, attempt: count, index: count });

export function encodeReaderCursor({ attempt, index }: StreamCursor): string {
  const wire: ReaderCursorV1 = { v: VERSION, attempt, index };
  return JSON.stringify(wire);
}

/** Reads a cursor, whatever was written there; never throws. */
export function readReaderCursor(body: Uint8Array): Reading<StreamCursor> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const reading = readShape<ReaderCursorV1>(SHAPE, json.value);
  if (reading.kind === 'unreadable') return reading;
  const { v, attempt, index } = reading.value;
  return (v as number) === VERSION ? readAs({ attempt, index }) : unreadable(`it is no cursor of version ${VERSION}`);
}
