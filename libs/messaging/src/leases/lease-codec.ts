import type { HostId } from '@berth/domain';
import type { Lease } from '@berth/jobs';
import { decodeText } from '../broker/text.js';

const VERSION = 1;

interface LeaseV1 {
  readonly v: typeof VERSION;
  readonly token: string;
  readonly hostId: string;
}

export function encodeLease({ token, hostId }: Lease): string {
  const wire: LeaseV1 = { v: VERSION, token, hostId };
  return JSON.stringify(wire);
}

/** @throws Error when the lease was written in a form that this process does not know */
export function decodeLease(body: Uint8Array): Lease {
  const wire = JSON.parse(decodeText(body)) as LeaseV1;
  if ((wire.v as number) !== VERSION)
    throw new Error(`lease of version ${String(wire.v)}: this process reads ${VERSION}`);
  return { token: wire.token, hostId: wire.hostId as HostId };
}
