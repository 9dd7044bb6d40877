import { count, instant, objectOf, readAs, readJson, readShape, unreadable, type Reading } from '@berth/contracts';
import type { QueuedTicket, Ticket } from '@berth/jobs';
import type { StoredMessage } from '../broker/read-message.js';
import { parseTicketSubject } from '../topology/subjects.js';

const VERSION = 1;

/** All else stands in the subject. */
interface TicketV1 {
  readonly v: typeof VERSION;
  readonly notBeforeMs: number;
}

const SHAPE = objectOf<TicketV1>({ v: count, notBeforeMs: instant });

export function encodeTicket({ notBeforeMs }: Ticket): string {
  const wire: TicketV1 = { v: VERSION, notBeforeMs };
  return JSON.stringify(wire);
}

/** Whatever was written there; never throws. */
export function readTicket({ subject, sequence, body }: StoredMessage): Reading<QueuedTicket> {
  const address = parseTicketSubject(subject);
  if (address === null) return unreadable('its subject names no attempt of a job');
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const wire = json.value as Partial<TicketV1> | null;
  if (wire?.v !== VERSION) return unreadable(`it is no ticket of version ${VERSION}`);
  const reading = readShape<TicketV1>(SHAPE, wire);
  if (reading.kind === 'unreadable') return reading;
  return readAs({ ticket: { ...address, notBeforeMs: reading.value.notBeforeMs }, sequence });
}
