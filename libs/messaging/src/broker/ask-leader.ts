import { count, objectOf, optional, type Members } from '@berth/domain/shape';
import { MsgHdrsImpl, type MsgHdrs } from '@nats-io/transport-node';
import type { Broker } from './broker.js';
import { API_ERROR, BrokerApiError, brokerUnavailable, type ApiError } from './broker-errors.js';
import { anyText } from './read-answer.js';

export interface LeaderMessage {
  readonly sequence: number;
  /** Undefined also where what was stored as headers is none. */
  readonly headers: MsgHdrs | undefined;
  readonly body: Uint8Array;
}

export type LeaderQuestion =
  | { readonly last_by_subj: string }
  /** The first message of the subject at that sequence or behind it. */
  | { readonly next_by_subj: string; readonly seq: number };

interface FoundMessage {
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
}

interface Answer {
  readonly message?: FoundMessage;
}

const ANSWER: Members<Answer> = {
  message: optional(objectOf<FoundMessage>({ seq: count, hdrs: optional(anyText), data: optional(anyText) })),
};

const EMPTY = new Uint8Array();

/**
 * One message as the stream's leader has it now: every write acknowledged before is seen.
 *
 * @throws PlatformError `service-unavailable` when no answer comes, or one that tells of no message
 */
export async function askLeader(
  broker: Broker,
  stream: string,
  question: LeaderQuestion,
): Promise<LeaderMessage | null> {
  const subject = `$JS.API.STREAM.MSG.GET.${stream}`;
  const { error, message } = await broker.ask<Answer>(subject, JSON.stringify(question), ANSWER);
  if (error?.err_code === API_ERROR.noMessage) return null;
  if (error !== undefined) throw unanswered(stream, error);
  if (message === undefined) throw brokerUnavailable(new Error(`read ${stream}: an answer without a message`));
  return {
    sequence: message.seq,
    headers: message.hdrs === undefined ? undefined : headersFrom(message.hdrs),
    body: message.data === undefined ? EMPTY : Buffer.from(message.data, 'base64'),
  };
}

/** While a stream moves, its broker may say anything of it, even that there is none. */
const unanswered = (stream: string, error: ApiError): Error =>
  brokerUnavailable(new BrokerApiError(`read ${stream}`, error));

function headersFrom(base64: string): MsgHdrs | undefined {
  try {
    return MsgHdrsImpl.decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
}
