import { cleanText } from '@berth/domain';
import type { AppendOutcome } from '@berth/endpoint-log';
import { RequestError } from '@nats-io/transport-node';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, isStoreFull, type ApiError } from '../broker/broker-errors.js';
import { BROKER_HEADERS, headersOf, ttlHeader } from '../broker/headers.js';
import { decodeText } from '../broker/text.js';

export interface Sending {
  readonly subject: string;
  readonly body: Uint8Array | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sequence of the subject's last message; 0: there must be none. */
  readonly expectedSequence?: number;
  readonly ttlMs?: number;
}

interface PubAck {
  readonly seq?: number;
  readonly error?: ApiError;
}

const REASON_MAX_CHARACTERS = 200;

/**
 * Publishes once and tells what the broker said. What can happen any day makes no error: one with a stack for each answer
 * took 6 % of a router. Never rejects; what cannot be sent at all is unknown like what was not answered.
 */
export async function sendOnce(broker: Broker, sending: Sending): Promise<AppendOutcome> {
  try {
    const answer = await broker.request(sending.subject, sending.body, headersOf(protocolHeaders(sending)));
    return outcomeOf(JSON.parse(decodeText(answer.data)) as PubAck);
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

function protocolHeaders({ expectedSequence, headers, ttlMs }: Sending): Record<string, string> {
  const values: Record<string, string> = { ...headers };
  if (expectedSequence !== undefined) values[BROKER_HEADERS.expectedSubjectSequence] = `${expectedSequence}`;
  if (ttlMs !== undefined) values[BROKER_HEADERS.ttl] = ttlHeader(ttlMs);
  return values;
}

function outcomeOf({ error, seq }: PubAck): AppendOutcome {
  if (error === undefined) {
    return typeof seq === 'number' && seq > 0
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
