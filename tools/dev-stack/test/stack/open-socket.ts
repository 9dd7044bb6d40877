import { once } from 'node:events';
import { eventually } from '@berth/testing';
import { WebSocket } from 'ws';
import type { BalancedEndpoint } from './balanced-endpoint.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 20 };

/** A caller of a load-balanced endpoint with a WebSocket. */
export class OpenSocket {
  readonly #socket: WebSocket;
  readonly #heard: string[] = [];

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => this.#heard.push(data.toString()));
  }

  /** Resolves when a worker has answered the handshake; rejects with what was answered instead. */
  static async open(endpoint: BalancedEndpoint): Promise<OpenSocket> {
    const socket = new WebSocket(endpoint.webSocketUrl(), { headers: endpoint.headersOf({}) });
    const opened = new OpenSocket(socket);
    await once(socket, 'open');
    return opened;
  }

  /** The next thing that is heard once this has been said. */
  async say(text: string): Promise<string> {
    const before = this.#heard.length;
    this.#socket.send(text);
    return eventually(() => {
      const heard = this.#heard[before];
      if (heard === undefined) throw new Error(`nothing was heard; the socket is in state ${this.#socket.readyState}`);
      return heard;
    }, WAIT);
  }

  /** Resolves when the worker has said goodbye in the same words. */
  async close(code: number): Promise<void> {
    const closed = once(this.#socket, 'close');
    this.#socket.close(code);
    const [said] = (await closed) as [number];
    if (said !== code) throw new Error(`the socket was closed with ${said}, not ${code}`);
  }

  /** Without a goodbye; harmless where it is closed already. */
  cut(): void {
    this.#socket.terminate();
  }
}
