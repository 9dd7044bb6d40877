import { cleanText } from '@berth/domain';
import type { AppendOutcome } from '@berth/endpoint-log';
import { RequestError } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, isStoreFull } from '../broker/broker-errors.js';
import { sendPublication, type PubAck, type Publication } from '../broker/publication.js';

const REASON_MAX_CHARACTERS = 200;

/**
 * Publishes once and tells what the broker said. An outcome that can happen any day makes no error: one with a stack
 * for each answer took 6 % of a router. Never rejects; what cannot be sent at all is unknown like what was not
 * answered.
 */
export async function sendOnce(broker: Broker, publication: Publication): Promise<AppendOutcome> {
  try {
    const answer = await sendPublication(broker, publication);
    return answer.kind === 'unreadable' ? unknownOutcome(answer.reason) : outcomeOf(answer.value);
  } catch (error) {
    return unknownOutcome(reasonOf(error));
  }
}

/** Few different ones, so that they can be counted: what the client says of its own failures names the subject. */
function reasonOf(error: unknown): string {
  if (error instanceof RequestError && error.isNoResponders()) return 'no responders';
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const unknownOutcome = (reason: string): AppendOutcome => ({
  kind: 'unknown',
  reason: cleanText(reason, REASON_MAX_CHARACTERS),
});

function outcomeOf({ error, seq }: PubAck): AppendOutcome {
  if (error === undefined) {
    return seq !== undefined && seq > 0
      ? { kind: 'stored', sequence: seq }
      : unknownOutcome('an answer without a sequence');
  }
  switch (error.err_code) {
    case API_ERROR.wrongLastSequence:
    case API_ERROR.wrongLastSequenceInFlight:
      return { kind: 'conflict' };
    default:
      return isStoreFull(error) ? { kind: 'full' } : unknownOutcome(`${error.description} (${error.err_code})`);
  }
}
