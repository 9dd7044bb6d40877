import { PlatformError } from '@berth/domain';
import type { StreamCursor } from '@berth/payloads';

export const STREAM_START: StreamCursor = { attempt: 0, index: 0 };

/** A cursor as a client gave it back. */
export interface GivenCursor extends StreamCursor {
  /** The client has been told that the job had ended there. */
  readonly isEnd: boolean;
}

/** Where a client begins that names no place. */
export const GIVEN_START: GivenCursor = { ...STREAM_START, isEnd: false };

const PATTERN = /^a(\d{1,9})-(\d{1,9})(-end)?$/;

export const formatCursor = ({ attempt, index }: StreamCursor): string => `a${attempt}-${index}`;

/** Id of the event that tells the end: its reader has nothing to come back for. */
export const formatEndCursor = (cursor: StreamCursor): string => `${formatCursor(cursor)}-end`;

/** True when `cursor` is further than `other`. */
export const isBeyond = (cursor: StreamCursor, other: StreamCursor): boolean =>
  cursor.attempt > other.attempt || (cursor.attempt === other.attempt && cursor.index > other.index);

/**
 * Where the client wants to go on, null where it does not say. `Last-Event-ID` counts before the query: a browser that
 * connects again sends it with the address that it began with.
 *
 * @throws PlatformError `invalid-header`, `invalid-query`
 */
export function givenCursor(query: unknown, lastEventId: unknown): GivenCursor | null {
  if (lastEventId !== undefined && lastEventId !== '') {
    const cursor = parseCursor(lastEventId);
    if (cursor !== null) return cursor;
    throw new PlatformError('invalid-header', 'Last-Event-ID is not the id of an event of this path.');
  }
  if (query === undefined) return null;
  const cursor = parseCursor(query);
  if (cursor !== null) return cursor;
  const failure = 'cursor: must be one that an answer of this path has named';
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}

function parseCursor(text: unknown): GivenCursor | null {
  const [, attempt, index, end] = (typeof text === 'string' && PATTERN.exec(text)) || [];
  if (attempt === undefined || index === undefined) return null;
  return { attempt: Number(attempt), index: Number(index), isEnd: end !== undefined };
}
