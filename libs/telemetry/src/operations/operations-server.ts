import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { MetricRegistry } from '../metrics/metric-registry.js';
import { listenError } from '../process-main/startup-error.js';
import { redactText } from '../logging/redact.js';
import type { Readiness } from './readiness.js';

export interface OperationsServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  readonly readiness: Readiness;
  readonly metrics: MetricRegistry;
}

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const JSON_UTF8 = 'application/json; charset=utf-8';

/** `/healthz`, `/readyz` and `/metrics`, on a port of their own so that they are never public by accident. */
export class OperationsServer {
  readonly #options: OperationsServerOptions;
  readonly #server: Server;

  constructor(options: OperationsServerOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** @returns the port that it listens on. @throws StartupError naming `BERTH_OPERATIONS_PORT` when it is taken. */
  async start(): Promise<number> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => {
        reject(listenError(error, { host, port, variable: 'BERTH_OPERATIONS_PORT' }));
      });
      this.#server.listen(port, host, resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.#answer(request).catch((error: unknown) => failure(error));
    response.writeHead(answer.status, { 'content-type': answer.contentType, 'cache-control': 'no-store' });
    response.end(request.method === 'HEAD' ? undefined : answer.body);
  }

  async #answer(request: IncomingMessage): Promise<Answer> {
    if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { error: 'GET only' });
    const [path = '/'] = (request.url ?? '/').split('?');
    switch (path) {
      case '/healthz':
        return json(200, { status: 'alive' });
      case '/readyz': {
        const report = await this.#options.readiness.report();
        return json(report.status === 'ready' ? 200 : 503, report);
      }
      case '/metrics': {
        const { contentType, text } = await this.#options.metrics.expose(request.headers.accept);
        return { status: 200, contentType, body: text };
      }
      default:
        return json(404, { error: 'there are /healthz, /readyz and /metrics' });
    }
  }
}

const json = (status: number, body: object): Answer => ({
  status,
  contentType: JSON_UTF8,
  body: redactText(JSON.stringify(body)),
});

const failure = (error: unknown): Answer =>
  json(500, { error: error instanceof Error ? error.message : String(error) });
