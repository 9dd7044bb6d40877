import type { QueuedTicket, Ticket } from '@berth/jobs';
import type { StoredMessage } from '../broker/read-message.js';
import { decodeText } from '../broker/text.js';
import { parseTicketSubject } from '../topology/subjects.js';

const VERSION = 1;

/** All else stands in the subject. */
interface TicketV1 {
  readonly v: typeof VERSION;
  readonly notBeforeMs: number;
}

export function encodeTicket({ notBeforeMs }: Ticket): string {
  const wire: TicketV1 = { v: VERSION, notBeforeMs };
  return JSON.stringify(wire);
}

/** @throws Error when the message is no ticket that this process can read */
export function decodeTicket({ subject, sequence, body }: StoredMessage): QueuedTicket {
  const address = parseTicketSubject(subject);
  const wire = JSON.parse(decodeText(body)) as TicketV1;
  if (address === null || (wire.v as number) !== VERSION) {
    throw new Error(`no ticket that can be read at ${subject} (version ${String(wire.v)})`);
  }
  return { ticket: { ...address, notBeforeMs: wire.notBeforeMs }, sequence };
}
