import {
  count,
  id,
  instant,
  listOf,
  objectOf,
  readAs,
  readJson,
  readShape,
  text,
  unreadable,
  type Reading,
} from '@berth/contracts';
import type { JobId } from '@berth/domain';
import type { Reservation } from '@berth/jobs';

const VERSION = 1;

interface ReservationV1 {
  readonly v: typeof VERSION;
  readonly firstId: string;
  readonly size: number;
  readonly missing: readonly number[];
  readonly fingerprint: string;
  readonly createdAtMs: number;
}

/** More jobs than any request may name. */
const MISSING_MAX = 100_000;
const FINGERPRINT_MAX_CHARACTERS = 65_536;

const SHAPE = objectOf<ReservationV1>({
  v: count,
  firstId: id,
  size: count,
  missing: listOf(count, MISSING_MAX),
  fingerprint: text(FINGERPRINT_MAX_CHARACTERS),
  createdAtMs: instant,
});

export function encodeReservation({ firstId, size, missing, fingerprint, createdAtMs }: Reservation): string {
  const wire: ReservationV1 = { v: VERSION, firstId, size, missing, fingerprint, createdAtMs };
  return JSON.stringify(wire);
}

/** Whatever was written there; never throws. */
export function readReservation(body: Uint8Array): Reading<Reservation> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const reading = readShape<ReservationV1>(SHAPE, json.value);
  if (reading.kind === 'unreadable') return reading;
  const { v, firstId, ...rest } = reading.value;
  if ((v as number) !== VERSION) return unreadable(`it is no reservation of version ${VERSION}`);
  return readAs({ ...rest, firstId: firstId as JobId });
}
