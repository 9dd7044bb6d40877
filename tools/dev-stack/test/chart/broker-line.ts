import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';

const PORT = 4222;
const WAIT = { deadlineMs: 90_000, intervalMs: 50 };

/** A connection to a broker, word by word: what its ports let through before any library has a say. */
export class BrokerLine {
  readonly #socket: Socket;
  #heard = '';
  #hasEnded = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => (this.#heard += bytes.toString()));
    // Whoever hangs up may do so without a goodbye.
    socket.on('error', () => undefined).on('close', () => (this.#hasEnded = true));
  }

  static async plain(host: string): Promise<BrokerLine> {
    const socket = connectPlain(PORT, host);
    await once(socket, 'connect');
    return new BrokerLine(socket);
  }

  /** @param name that the broker's certificate must be for */
  static async encrypted(host: string, name: string, authority: string): Promise<BrokerLine> {
    const socket = connectTls({ host, port: PORT, servername: name, ca: authority });
    const line = new BrokerLine(socket);
    await once(socket, 'secureConnect');
    return line;
  }

  say(...lines: readonly string[]): void {
    this.#socket.write(lines.map((line) => `${line}\r\n`).join(''));
  }

  /** All that was heard, once this is in it. */
  async hears(words: string): Promise<string> {
    return eventually(() => {
      expect(this.#heard).toContain(words);
      return this.#heard;
    }, WAIT);
  }

  /** All that was heard, once the broker has hung up. */
  async ends(): Promise<string> {
    await eventually(() => expect(this.#hasEnded).toBe(true), WAIT);
    return this.#heard;
  }

  cut(): void {
    this.#socket.destroy();
  }
}
