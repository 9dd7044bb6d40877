import { count, objectOf, optional, type Members } from '@berth/domain/shape';
import type { Broker } from '../broker/broker.js';
import { BrokerApiError, brokerUnavailable } from '../broker/broker-errors.js';
import { copyStream, type CopiedState, type StreamCopyOptions } from './copy-stream.js';

interface Counts {
  readonly messages: number;
  readonly last_seq: number;
}

interface InfoAnswer {
  readonly state?: Counts;
}

const INFO_ANSWER: Members<InfoAnswer> = { state: optional(objectOf<Counts>({ messages: count, last_seq: count })) };

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
  const after = await countsOf(options.broker, options.stream);
  return { ...copied, isWhole: removedOf(copied) === removedOf(after) };
}

const removedOf = ({ last_seq: last, messages }: Counts): number => last - messages;

async function countsOf(broker: Broker, stream: string): Promise<Counts> {
  const { error, state } = await broker.ask<InfoAnswer>(`$JS.API.STREAM.INFO.${stream}`, '', INFO_ANSWER);
  if (error !== undefined) throw brokerUnavailable(new BrokerApiError(`look at ${stream}`, error));
  if (state === undefined) throw brokerUnavailable(new Error(`${stream} says nothing of itself`));
  return state;
}
