import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Asked or opened at one time. */
const AT_ONCE = 200;

/** Does it for each number below the count, some at a time. */
export async function forEachOf(count: number, act: (number: number) => Promise<void>): Promise<void> {
  let next = 0;
  const actOnAndOn = async (): Promise<void> => {
    while (next < count) await act(next++);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, actOnAndOn));
}

export interface KeptAddress {
  readonly host: string;
  readonly port: string;
}

/** A caller that keeps its connection, and asks on it as often as it is told to. */
export class KeptCaller {
  readonly #socket: Socket;
  #heard = '';
  #wake: () => void = () => undefined;

  private constructor(address: KeptAddress) {
    this.#socket = connect({ host: address.host, port: Number(address.port) });
    this.#socket.on('data', (chunk: Buffer) => {
      this.#heard += chunk.toString('latin1');
      this.#wake();
    });
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.once('close', () => this.#wake());
  }

  static async open(address: KeptAddress): Promise<KeptCaller> {
    const caller = new KeptCaller(address);
    await once(caller.#socket, 'connect');
    return caller;
  }

  get isClosed(): boolean {
    return this.#socket.closed;
  }

  /**
   * @param head of a request without a body
   * @returns the first line of the answer; empty: the connection was closed
   */
  async ask(head: string): Promise<string> {
    this.#heard = '';
    this.#socket.write(head);
    while (!isWhole(this.#heard) && !this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve));
    return this.#heard.split('\r\n')[0] ?? '';
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/** Of an answer with a length, or without a body. */
function isWhole(heard: string): boolean {
  const end = heard.indexOf('\r\n\r\n');
  const length = /^content-length: (\d+)\r$/im.exec(heard)?.[1] ?? '0';
  return end !== -1 && heard.length >= end + 4 + Number(length);
}
