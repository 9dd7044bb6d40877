import { brokerUnavailable } from '../broker/broker-errors.js';
import { readStreamHead } from '../broker/stream-head.js';
import { copyStream, type CopiedState, type StreamCopyOptions } from './copy-stream.js';

/** The log of an endpoint lies in one stream; `isWhole` is false where something was removed while it was copied. */
export interface CopiedLog extends CopiedState {
  readonly isWhole: boolean;
}

/**
 * Copies the stream of a shard's logs. An owner writes what lives of a log behind its end and then removes what lay
 * before: a copy that missed the one and did not get the other would be a log with a hole. So one counts during which
 * nothing was removed. Sequences have no holes where they are given, so their count less that of the messages is how many
 * were ever removed.
 *
 * @throws PlatformError `service-unavailable`
 */
export async function copyLog(options: StreamCopyOptions): Promise<CopiedLog | null> {
  const copied = await copyStream(options);
  if (copied === null) return null;
  const after = await readStreamHead(options.broker, options.stream);
  if (after === null) throw brokerUnavailable(new Error(`${options.stream} went while it was copied`));
  return { ...copied, isWhole: copied.last_seq - copied.messages === after.lastSequence - after.messages };
}
