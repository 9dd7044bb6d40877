import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly atMs: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly response: ServerResponse;
}

/** Somebody's own server, to which webhooks are sent. */
export class WebhookReceiver {
  readonly received: Received[] = [];
  /** Answers; the request's body has been read. */
  answer: (received: Received) => void = ({ response }) => response.end('thanks');
  readonly #server: Server;

  private constructor(now: () => number) {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        const received = { atMs: now(), path: request.url ?? '', headers: request.headers, text, response };
        this.received.push(received);
        this.answer(received);
      });
    });
  }

  static async open(now: () => number): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(now);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  url(path = '/hook'): string {
    return `http://127.0.0.1:${this.port}${path}`;
  }

  /** Those whose job it is. */
  of(jobId: string): readonly Received[] {
    return this.received.filter(({ text }) => text.includes(jobId));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const TOLERANCE_SECONDS = 300;

/**
 * Verifies as a receiver does, from the published rules alone: the secret is base64 behind `whsec_`; what is signed is
 * `id.timestamp.body`; the header holds signatures separated by spaces, each `v1,` and base64; any match will do.
 */
export function isGenuine(
  { headers, text }: Pick<Received, 'headers' | 'text'>,
  secret: string,
  nowMs: number,
): boolean {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false;
  const key = Buffer.from(secret.split('_')[1] ?? '', 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.${text}`, 'utf8').digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .map((each) => each.split(','))
    .filter(([version]) => version === 'v1')
    .some(([, signature = '']) => {
      const given = Buffer.from(signature, 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}
