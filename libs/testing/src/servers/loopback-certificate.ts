import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsTls } from '@berth/broker-access';
import { createAuthority, issueCertificate } from '@berth/broker-access/certificates';
import { systemClock } from '@berth/lifecycle';

export interface LoopbackCertificate {
  readonly tls: NatsTls;
  /** PEM of the authority that signed it. */
  readonly authority: string;
}

const DAY_MS = 24 * 60 * 60_000;

/** A certificate for `localhost` and `127.0.0.1`, in that folder, of an authority that nobody knows yet. Good for a day unless said. */
export async function certifyLoopback(folder: string, days = 1): Promise<LoopbackCertificate> {
  const fromMs = systemClock.nowMs();
  const times = { fromMs, untilMs: fromMs + days * DAY_MS };
  const authority = await createAuthority('tests', times);
  const server = await issueCertificate(authority, { ...times, names: ['localhost', '127.0.0.1'] });
  const tls = { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key'), caFile: join(folder, 'ca.crt') };
  await writeFile(tls.certFile, server.certificate);
  await writeFile(tls.keyFile, server.privateKey, { mode: 0o600 });
  await writeFile(tls.caFile, authority.certificate);
  return { tls, authority: authority.certificate };
}
