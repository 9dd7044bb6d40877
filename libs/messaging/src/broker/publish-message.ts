import type { Msg } from '@nats-io/transport-node';
import type { Broker } from './broker.js';
import { API_ERROR, isUnanswered, unexpectedAnswer, type ApiError } from './broker-errors.js';
import { BROKER_HEADERS, headersOf, ttlHeader } from './headers.js';
import { decodeText } from './text.js';

export interface Publication {
  readonly subject: string;
  readonly body: Uint8Array | string;
  readonly ttlMs?: number;
  /** Sequence of the subject's last message; 0: there must be none, not even a marker. */
  readonly expectedSequence?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export type PublishOutcome =
  | { readonly kind: 'stored'; readonly sequence: number }
  /** The subject's last message is not the expected one. */
  | { readonly kind: 'conflict' }
  /** The subject holds a message and the stream takes one per subject. */
  | { readonly kind: 'occupied' }
  /** No answer: stored or not, now or later. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

interface PubAck {
  readonly seq?: number;
  readonly error?: ApiError;
}

/**
 * Publishes once. The client's own retries are not used: a repeat after a lost answer would turn our own success into
 * a conflict.
 *
 * @throws PlatformError `service-unavailable` when the stream is full or the broker says that it cannot now
 */
export async function publishMessage(broker: Broker, publication: Publication): Promise<PublishOutcome> {
  let answer: Msg;
  try {
    answer = await broker.request(publication.subject, publication.body, headersOf(protocolHeaders(publication)));
  } catch (error) {
    if (isUnanswered(error)) return { kind: 'unknown', cause: error };
    throw error;
  }
  return outcomeOf(publication, JSON.parse(decodeText(answer.data)) as PubAck);
}

function protocolHeaders({ headers, ttlMs, expectedSequence }: Publication): Record<string, string> {
  const values: Record<string, string> = { ...headers };
  if (ttlMs !== undefined) values[BROKER_HEADERS.ttl] = ttlHeader(ttlMs);
  if (expectedSequence !== undefined) values[BROKER_HEADERS.expectedSubjectSequence] = `${expectedSequence}`;
  return values;
}

const PER_SUBJECT = 'maximum messages per subject exceeded';

function outcomeOf({ subject }: Publication, { seq, error }: PubAck): PublishOutcome {
  if (error === undefined) {
    if (seq === undefined) throw new Error(`publish to ${subject}: an answer without a sequence`);
    return { kind: 'stored', sequence: seq };
  }
  switch (error.err_code) {
    case API_ERROR.wrongLastSequence:
    case API_ERROR.wrongLastSequenceInFlight:
      return { kind: 'conflict' };
    case API_ERROR.storeFailed:
      if (error.description === PER_SUBJECT) return { kind: 'occupied' };
      throw unexpectedAnswer(`publish to ${subject}`, error);
    default:
      throw unexpectedAnswer(`publish to ${subject}`, error);
  }
}
