import { PlatformError } from '@berth/domain';

/** How far a reader has come: the next chunk is `index` of `attempt`; another attempt begins at its first. */
export interface StreamCursor {
  readonly attempt: number;
  readonly index: number;
}

export const STREAM_START: StreamCursor = { attempt: 0, index: 0 };

const PATTERN = /^a(\d{1,9})-(\d{1,9})$/;

export const formatCursor = ({ attempt, index }: StreamCursor): string => `a${attempt}-${index}`;

/**
 * A cursor as a client got it from us; it means nothing to the client.
 *
 * @throws PlatformError `invalid-query`
 */
export function parseCursor(text: unknown): StreamCursor {
  const [, attempt, index] = (typeof text === 'string' && PATTERN.exec(text)) || [];
  if (attempt !== undefined && index !== undefined) return { attempt: Number(attempt), index: Number(index) };
  const failure = 'cursor: must be one that an answer of this path has named';
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}
