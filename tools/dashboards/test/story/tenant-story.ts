import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { request } from 'undici';

const TIMEOUT_MS = 60_000;
const ONE = { min: 1, max: 1 };
/** More than a host has. */
const TOO_MANY_VCPUS = 16;

interface Sent {
  readonly body?: object;
  /** Of the request; absent: as in its address. */
  readonly host?: string;
}

/** What a tenant does that leaves a trace in every panel: jobs that end well and ill, requests, a worker without a place. */
export class TenantStory {
  readonly #stack: StartedStack;
  readonly #receiver: Server;
  #queueId = '';
  #balancedId = '';

  private constructor(stack: StartedStack, receiver: Server) {
    this.#stack = stack;
    this.#receiver = receiver;
  }

  static async begin(stack: StartedStack): Promise<TenantStory> {
    const receiver = createServer((incoming, response) => incoming.resume().once('end', () => response.end()));
    await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
    const story = new TenantStory(stack, receiver);
    story.#queueId = await story.#create({ type: 'QUEUE', image: 'local/traced' });
    story.#balancedId = await story.#create({
      type: 'LOAD_BALANCER',
      image: 'local/balanced',
      env: { FOLDER: stack.home },
    });
    await story.#create({ type: 'QUEUE', image: 'local/traced', cpu: [{ id: 'cpu3c', vcpuCount: TOO_MANY_VCPUS }] });
    return story;
  }

  /** At each router. @returns the statuses of the answers */
  async goOn(): Promise<readonly number[]> {
    const { port } = this.#receiver.address() as AddressInfo;
    const webhook = `http://127.0.0.1:${port}/told`;
    const statuses: number[] = [];
    for (const { runUrl } of this.#stack.dev.routers) {
      const path = `${runUrl}/v2/${this.#queueId}`;
      statuses.push(await this.#ask('POST', `${path}/runsync`, { body: { input: {}, webhook } }));
      statuses.push(await this.#ask('POST', `${path}/runsync`, { body: { input: { fails: true } } }));
      statuses.push(await this.#ask('GET', `${path}/health`));
      const host = `${this.#balancedId}.${this.#stack.dev.loadBalancerDomain}`;
      statuses.push(await this.#ask('POST', `${runUrl}/echo`, { body: { ahoy: true }, host }));
    }
    return statuses;
  }

  end(): void {
    this.#receiver.close();
  }

  async #create(spec: object): Promise<string> {
    const tenant = new TenantClient(() => this.#stack.dev, TIMEOUT_MS);
    const { body, status } = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
      ...{ name: 'seen', workers: ONE, scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
      ...{ cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
      ...spec,
    });
    if (status !== 201) throw new Error(`the endpoint was not made: ${JSON.stringify(body)}`);
    return body.id;
  }

  async #ask(method: 'GET' | 'POST', url: string, { body, host }: Sent = {}): Promise<number> {
    const own = { authorization: `Bearer ${this.#stack.dev.apiKey}`, 'content-type': 'application/json' };
    const answer = await request(url, {
      method,
      headers: host === undefined ? own : { ...own, host },
      body: body === undefined ? null : JSON.stringify(body),
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    await answer.body.dump();
    return answer.statusCode;
  }
}
