import type { JobId } from '@berth/domain';
import type { Reservation } from '@berth/jobs';
import { decodeText } from '../broker/text.js';

const VERSION = 1;

interface ReservationV1 {
  readonly v: typeof VERSION;
  readonly firstId: string;
  readonly size: number;
  readonly missing: readonly number[];
  readonly fingerprint: string;
  readonly createdAtMs: number;
}

export function encodeReservation({ firstId, size, missing, fingerprint, createdAtMs }: Reservation): string {
  const wire: ReservationV1 = { v: VERSION, firstId, size, missing, fingerprint, createdAtMs };
  return JSON.stringify(wire);
}

/** @throws Error when the reservation was written in a form that this process does not know */
export function decodeReservation(body: Uint8Array): Reservation {
  const { v, firstId, ...rest } = JSON.parse(decodeText(body)) as ReservationV1;
  if ((v as number) !== VERSION) throw new Error(`reservation of version ${String(v)}: this process reads ${VERSION}`);
  return { ...rest, firstId: firstId as JobId };
}
