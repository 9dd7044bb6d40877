import type { Reading } from '@berth/domain/shape';
import type { Broker } from './broker.js';
import { API_ERROR, isUnanswered, unexpectedAnswer } from './broker-errors.js';
import { sendPublication, type PubAck, type Publication } from './publication.js';

export type PublishOutcome =
  | { readonly kind: 'stored'; readonly sequence: number }
  /** The subject's last message is not the expected one. */
  | { readonly kind: 'conflict' }
  /** The subject holds a message and the stream takes one per subject. */
  | { readonly kind: 'occupied' }
  /** No answer: stored or not, now or later. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

/**
 * Publishes once. The client's own retries are not used: a repeat after a lost answer would turn our own success into
 * a conflict.
 *
 * @throws PlatformError `service-unavailable` when the stream is full or the broker says that it cannot now
 */
export async function publishMessage(broker: Broker, publication: Publication): Promise<PublishOutcome> {
  let answer: Reading<PubAck>;
  try {
    answer = await sendPublication(broker, publication);
  } catch (error) {
    if (isUnanswered(error)) return { kind: 'unknown', cause: error };
    throw error;
  }
  if (answer.kind === 'unreadable') throw new Error(`publish to ${publication.subject}: ${answer.reason}`);
  return outcomeOf(publication, answer.value);
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
