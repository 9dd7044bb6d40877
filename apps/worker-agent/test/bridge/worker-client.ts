import { request } from 'node:http';
import type { TestAgent } from './test-agent.js';
import { registration } from './test-agent.js';

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly json: unknown;
}

/** A worker by hand: its calls as the SDK makes them, with every byte in the test's control. */
export class WorkerClient {
  readonly #agent: TestAgent;
  readonly id: string;
  token: string;

  constructor(agent: TestAgent, id: string) {
    this.#agent = agent;
    this.id = id;
    this.token = registration(id).token;
  }

  static register(agent: TestAgent, id: string): WorkerClient {
    agent.bridge.registerWorker(registration(id));
    return new WorkerClient(agent, id);
  }

  /** `abort` hangs up. */
  call(
    method: string,
    target: string,
    more: { body?: string | Buffer; headers?: Record<string, string>; abort?: AbortSignal } = {},
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: this.#agent.bridge.port,
          method,
          path: target,
          agent: false,
          headers: { authorization: this.token, ...more.headers },
          ...(more.abort === undefined ? {} : { signal: more.abort }),
        },
        (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
          incoming.once('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const isJson = incoming.headers['content-type'] === 'application/json';
            resolve({ status: incoming.statusCode ?? 0, text, json: isJson ? JSON.parse(text) : undefined });
          });
        },
      );
      outgoing.once('error', reject);
      outgoing.end(more.body);
    });
  }

  take(query = '&job_in_progress=0', abort?: AbortSignal): Promise<Answer> {
    return this.call('GET', `/v2/ep1/job-take/${this.id}?gpu=cpu${query}`, abort === undefined ? {} : { abort });
  }

  takeBatch(size: number, query = '&job_in_progress=1'): Promise<Answer> {
    return this.call('GET', `/v2/ep1/job-take-batch/${this.id}?gpu=cpu&batch_size=${size}${query}`);
  }

  stops(): Promise<Answer> {
    return this.call('GET', `/v2/ep1/job-stop/${this.id}?gpu=cpu`);
  }

  ping(jobIds: readonly string[] = [], version = '1.12.0'): Promise<Answer> {
    const list = jobIds.length === 0 ? '' : `&job_id=${encodeURIComponent(jobIds.join(','))}`;
    return this.call('GET', `/v2/ep1/ping/${this.id}?gpu=cpu${list}&runpod_version=${version}`);
  }

  /** Labelled as a form, as the SDK does. */
  done(jobId: string, body: string | Buffer | object, isStream = false): Promise<Answer> {
    return this.#post(`job-done/${this.id}/${jobId}?gpu=cpu&isStream=${isStream}`, body);
  }

  chunk(jobId: string, body: string | object): Promise<Answer> {
    return this.#post(`job-stream/${this.id}/${jobId}?gpu=cpu&isStream=false`, body);
  }

  #post(path: string, body: string | Buffer | object): Promise<Answer> {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const headers = { 'content-type': 'application/x-www-form-urlencoded', charset: 'utf-8', 'x-request-id': 'other' };
    return this.call('POST', `/v2/ep1/${path}`, { body: raw, headers });
  }
}
