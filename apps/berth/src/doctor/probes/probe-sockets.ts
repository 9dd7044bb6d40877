import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';

export interface Address {
  readonly host: string;
  readonly port: number;
}

const WORDS_MAX_MS = 5_000;
const SILENCE_MS = 2_000;

/** Of a URL whose protocol has no port of its own. @param fallback where it names none */
export function addressOf(url: string, fallback: number): Address {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? fallback : Number(port) };
}

/**
 * Until when the certificate is good that a server shows to whoever begins with TLS; null: it does not say.
 *
 * @throws what Node says of a certificate that it does not believe, or of a connection that was not made
 */
export function probeCertificate({ host, port }: Address): Promise<number | null> {
  const { promise, reject, resolve } = Promise.withResolvers<number | null>();
  const socket = connectTls(
    { host, port, ...(isIP(host) === 0 && { servername: host }), timeout: WORDS_MAX_MS },
    () => {
      const until = Date.parse(socket.getPeerCertificate().valid_to);
      resolve(Number.isNaN(until) ? null : until);
    },
  );
  socket.once('timeout', () => socket.destroy(codedError('ETIMEDOUT', 'no TLS handshake within 5 s')));
  socket.once('error', reject);
  socket.once('close', () => reject(codedError('ECONNRESET', 'it ended the TLS handshake')));
  return promise.finally(() => socket.destroy());
}

/** What a client of the broker says first that has not heard of TLS. */
const PLAIN_GREETING = 'CONNECT {"verbose":false,"pedantic":false}\r\nPING\r\n';

/**
 * Whether a broker says a word to whoever speaks no TLS. One that keeps silent for 2 s, or hangs up, does not.
 *
 * @throws what Node says of a connection that was not made
 */
export function probePlainWords({ host, port }: Address): Promise<boolean> {
  const { promise, reject, resolve } = Promise.withResolvers<boolean>();
  const socket = connectPlain({ host, port, timeout: WORDS_MAX_MS }, () => {
    socket.setTimeout(SILENCE_MS);
    socket.write(PLAIN_GREETING);
  });
  let isThere = false;
  socket.once('connect', () => (isThere = true));
  socket.once('data', (data) => resolve(isWordOfBroker(data)));
  socket.once('timeout', () => (isThere ? resolve(false) : socket.destroy(codedError('ETIMEDOUT', 'no connection'))));
  socket.once('error', (error) => (isThere ? resolve(false) : reject(error)));
  socket.once('close', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** A TLS alert is no word: its first byte is no letter. */
const isWordOfBroker = (data: Buffer): boolean => /^(?:INFO|-ERR|PONG|\+OK)/.test(data.toString('latin1'));

const codedError = (code: string, message: string): Error => Object.assign(new Error(message), { code });
