import { count, listOf, objectOf, readShape, text, type Reading } from '@berth/domain/shape';
import { readJson } from '../wire/read-json.js';

/**
 * Control plane → routers, core NATS: how far the job history has read the logs of endpoints, so that nothing of them
 * is purged that it has not read. A lost message is told again a moment later.
 */
export const HISTORY_READ_SUBJECT = 'history.read';
export const HISTORY_READ_INTERVAL_MS = 2_000;

/** A place in the stream of a shard of the logs: everything before it, and the batch there, is in the job history. */
export interface LogPosition {
  /** When the stream was made, in the broker's own words: another stream under the same name has other sequences. */
  readonly streamCreated: string;
  /** 0: before the first batch. */
  readonly sequence: number;
}

export interface ShardRead extends LogPosition {
  readonly shard: number;
}

/** A shard that is not named is one of which nothing has been read. */
export interface HistoryReadMessage {
  readonly shards: readonly ShardRead[];
}

/** Far more than there are. */
const SHARDS_MAX = 1_024;
const STREAM_CREATED_MAX_CHARACTERS = 64;

const MESSAGE = objectOf<HistoryReadMessage>({
  shards: listOf(
    objectOf<ShardRead>({ shard: count, streamCreated: text(STREAM_CREATED_MAX_CHARACTERS), sequence: count }),
    SHARDS_MAX,
  ),
});

/** Reads a message of the subject, whatever came; never throws. */
export function readHistoryRead(body: Uint8Array | string): Reading<HistoryReadMessage> {
  const json = readJson(body);
  return json.kind === 'unreadable' ? json : readShape(MESSAGE, json.value);
}
