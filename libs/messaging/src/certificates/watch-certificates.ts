import { X509Certificate } from 'node:crypto';
import { getCACertificates } from 'node:tls';
import type { OpenProcess } from '@berth/telemetry';
import { isEncrypted, serversOf } from '../connection.js';
import { certificateMetrics, type CertificateEnd } from './metrics.js';
import { shownCertificateEnd, type TlsServer } from './shown-certificate.js';

const LOOK_EVERY_MS = 600_000;
const LOOK_WITHIN_MS = 5_000;
const BROKER_PORT = 4_222;
const MS_PER_SECOND = 1_000;

/**
 * Shows when certificates run out: of each broker that is reached by TLS, and of the authorities in `NODE_EXTRA_CA_CERTS`.
 * Brokers are looked at time and again, since a connection that stands knows nothing of a certificate that was renewed.
 */
export function watchCertificates(
  { clock, logger, metrics, onStop }: Pick<OpenProcess, 'clock' | 'logger' | 'metrics' | 'onStop'>,
  natsUrl: string,
): void {
  const servers = isEncrypted(natsUrl) ? serversOf(natsUrl).map(serverOf) : [];
  const ends = new Map<string, number>();
  const look = (): void => {
    for (const server of servers) {
      const name = `${server.host}:${server.port}`;
      void shownCertificateEnd(server, LOOK_WITHIN_MS).then(
        (end) => ends.set(name, end),
        (error: unknown) => logger.debug('a broker shows no certificate; it is looked at again', { name, error }),
      );
    }
  };
  const authorities = endsOfAuthorities();
  certificateMetrics(metrics, () => [
    ...[...ends].map(([server, value]): CertificateEnd => ({ labels: { kind: 'broker', server }, value })),
    ...authorities,
  ]);
  look();
  const stop = clock.every(LOOK_EVERY_MS, look);
  onStop('certificates', async () => stop());
}

/** The one that runs out first; none: this process believes only whom everybody does. Node reads them when it starts. */
function endsOfAuthorities(): readonly CertificateEnd[] {
  const ends = getCACertificates('extra').map((pem) => Date.parse(new X509Certificate(pem).validTo) / MS_PER_SECOND);
  return ends.length === 0 ? [] : [{ labels: { kind: 'authority', server: '' }, value: Math.min(...ends) }];
}

/** @throws TypeError where it is no address */
function serverOf(server: string): TlsServer {
  const { hostname, port } = new URL(server.includes('://') ? server : `tls://${server}`);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? BROKER_PORT : Number(port) };
}
