import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToldJob } from '@berth/testing/checker';

/** Answers every webhook with 200 and remembers it. */
export class HookReceiver {
  readonly #calls = new Map<string, ToldJob['calls'][number][]>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      let text = '';
      request.setEncoding('utf8');
      request.on('data', (piece: string) => (text += piece));
      request.on('end', () => {
        const { id, status } = JSON.parse(text) as { id: string; status: string };
        const calls = this.#calls.get(id) ?? [];
        this.#calls.set(id, [...calls, { webhookId: String(request.headers['webhook-id']), status }]);
        response.end();
      });
    });
  }

  static async open(): Promise<HookReceiver> {
    const receiver = new HookReceiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  callsFor(jobId: string): ToldJob['calls'] {
    return this.#calls.get(jobId) ?? [];
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
