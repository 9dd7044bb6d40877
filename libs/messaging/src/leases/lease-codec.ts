import { count, objectOf, readAs, readJson, readShape, text, unreadable, type Reading } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { Lease } from '@berth/jobs';

const VERSION = 1;

interface LeaseV1 {
  readonly v: typeof VERSION;
  readonly token: string;
  readonly hostId: string;
}

const SHAPE = objectOf<LeaseV1>({ v: count, token: text(), hostId: text() });

export function encodeLease({ token, hostId }: Lease): string {
  const wire: LeaseV1 = { v: VERSION, token, hostId };
  return JSON.stringify(wire);
}

/** Whatever was written there; never throws. */
export function readLease(body: Uint8Array): Reading<Lease> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const reading = readShape<LeaseV1>(SHAPE, json.value);
  if (reading.kind === 'unreadable') return reading;
  const { v, token, hostId } = reading.value;
  if ((v as number) !== VERSION) return unreadable(`it is no lease of version ${VERSION}`);
  return readAs({ token, hostId: hostId as HostId });
}
