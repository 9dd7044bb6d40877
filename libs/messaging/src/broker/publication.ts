import { count, optional, type Reading } from '@berth/domain/shape';
import type { Broker } from './broker.js';
import { BROKER_HEADERS, headersOf, ttlHeader } from './headers.js';
import { readAnswer, type BrokerAnswer } from './read-answer.js';

export interface Publication {
  readonly subject: string;
  readonly body: Uint8Array | string;
  readonly ttlMs?: number;
  /** Sequence of the subject's last message; 0: there must be none, not even a marker. */
  readonly expectedSequence?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Acknowledgement {
  /** Absent, or 0, where nothing was stored. */
  readonly seq?: number;
}

/** The answer of a stream to a publication. */
export type PubAck = BrokerAnswer<Acknowledgement>;

/**
 * Sends a message to its stream once, and reads the answer.
 *
 * @throws what the client throws
 */
export async function sendPublication(broker: Broker, publication: Publication): Promise<Reading<PubAck>> {
  const headers = headersOf(protocolHeaders(publication));
  const { data } = await broker.request(publication.subject, publication.body, headers);
  return readAnswer<Acknowledgement>({ seq: optional(count) }, data);
}

function protocolHeaders({ expectedSequence, headers, ttlMs }: Publication): Record<string, string> {
  const values: Record<string, string> = { ...headers };
  if (ttlMs !== undefined) values[BROKER_HEADERS.ttl] = ttlHeader(ttlMs);
  if (expectedSequence !== undefined) values[BROKER_HEADERS.expectedSubjectSequence] = `${expectedSequence}`;
  return values;
}
