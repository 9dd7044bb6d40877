import { isIP } from 'node:net';
import { connect } from 'node:tls';

/** A server that begins with a handshake. */
export interface TlsServer {
  readonly host: string;
  readonly port: number;
}

const MS_PER_SECOND = 1_000;

/**
 * When the certificate runs out that the server shows now, Unix seconds. It is read whether it is believed or not, also when
 * it has run out: nothing is said to the server.
 *
 * @throws Error where no handshake comes about in time
 */
export function shownCertificateEnd({ host, port }: TlsServer, withinMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port, ...named, rejectUnauthorized: false }, () => {
      resolve(Date.parse(socket.getPeerCertificate().valid_to) / MS_PER_SECOND);
      socket.destroy();
    });
    socket.setTimeout(withinMs, () => socket.destroy(new Error('no handshake in time')));
    socket.once('error', reject);
  });
}
