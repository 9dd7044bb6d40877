import { Agent, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';

export interface WireRequest {
  readonly method: string;
  /** As it goes over the wire: nothing in it is tidied up. */
  readonly path: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

const HEAD_END = '\r\n\r\n';

/** Sends what a client for people would refuse to send. */
export class Wire {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 16 });

  constructor(url: string) {
    this.#port = Number(new URL(url).port);
  }

  close(): void {
    this.#agent.destroy();
  }

  async send({ body, headers = {}, method, path }: WireRequest): Promise<WireAnswer> {
    // Node leaves the length out where it expects no body, and the body then reads as the next request.
    const length = 'transfer-encoding' in headers || body === undefined ? {} : { 'content-length': byteLength(body) };
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { port: this.#port, method, path, headers: { ...headers, ...length }, agent: this.#agent };
      request(options, resolve).on('error', reject).end(body);
    });
    return { status: response.statusCode ?? 0, headers: response.headers, text: await answerOf(response) };
  }

  /**
   * Bytes, one per character. Unless the sender breaks off behind them it is the server that ends the connection, so a
   * request that is whole has to ask for that.
   *
   * @returns the first answer; null where the connection ends without one
   */
  async sendBytes(bytes: string, { breaksOff = false } = {}): Promise<WireAnswer | null> {
    const received = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(this.#port, '127.0.0.1', () => {
        socket.write(bytes, 'latin1');
        if (breaksOff) socket.end();
      });
      socket.setEncoding('utf8').on('data', (chunk) => (text += String(chunk)));
      socket.on('close', () => {
        resolve(text);
      });
      // A server that has said what it had to say need not hear the rest.
      socket.on('error', (error) => {
        if (text === '') reject(error);
      });
    });
    return received === '' ? null : parseAnswer(received);
  }
}

/** The whole answer; of events, which go on for an hour, none: their head has said all that is promised at once. */
async function answerOf(response: IncomingMessage): Promise<string> {
  if (response.headers['content-type']?.startsWith('text/event-stream') !== true) return textOf(response);
  response.destroy();
  return '';
}

const byteLength = (body: string | Uint8Array): number =>
  typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;

function parseAnswer(received: string): WireAnswer {
  const end = received.indexOf(HEAD_END);
  const [statusLine = '', ...lines] = received.slice(0, end).split('\r\n');
  const headers = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    text: received.slice(end + HEAD_END.length),
  };
}
