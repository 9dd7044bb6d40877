import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { DevFile } from '../../src/dev-file.js';
import { TenantClient, type Reachable } from '../../src/tenant-client.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 100 };

export interface Ask {
  /** The first is 0. */
  readonly router?: number;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

/** `cut`: the connection failed before the answer was whole, or there was none to be had. */
export type Outcome =
  | { readonly kind: 'answered'; readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string }
  | { readonly kind: 'cut'; readonly code: string };

export interface BalancedWorker {
  readonly id: string;
  readonly status: string;
  readonly hostId: string;
  readonly version: number;
  readonly reason?: string | null;
}

/** Where a request that waits at a gate has come to. */
export interface Reached {
  readonly nonce: string;
  readonly workerId: string;
  readonly pid: number;
}

export interface BalancedOptions {
  readonly requestCount: number;
  readonly workers: { readonly min: number; readonly max: number; readonly idleTimeout?: number };
  /** Unless said, `local/balanced`. */
  readonly image?: string;
  readonly flashboot?: 'FLASHBOOT';
  readonly vcpus?: number;
  /** Of a request, in ms. Absent: the interface's own. */
  readonly timeout?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: any. */
  readonly dataCenterIds?: readonly string[];
}

/** Of an installation, what its callers know. */
export interface BalancedPlace {
  /** A folder that workers which are processes see, too. */
  readonly home: string;
  readonly dev: Reachable &
    Pick<DevFile, 'loadBalancerDomain'> & { readonly routers: readonly { readonly runUrl: string }[] };
}

const CUT = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/** A load-balanced endpoint of a stack, and its callers; its gates are those of the image `local/balanced`. */
export class BalancedEndpoint {
  readonly id: string;
  readonly #stack: BalancedPlace;
  readonly #tenant: TenantClient;
  readonly #folder: string;

  private constructor(id: string, stack: BalancedPlace, folder: string) {
    this.id = id;
    this.#stack = stack;
    this.#folder = folder;
    this.#tenant = new TenantClient(() => stack.dev, WAIT.deadlineMs);
  }

  static async create(stack: BalancedPlace, options: BalancedOptions): Promise<BalancedEndpoint> {
    const {
      dataCenterIds,
      env = {},
      flashboot = 'OFF',
      image = 'local/balanced',
      requestCount,
      timeout,
      vcpus = 2,
      workers,
    } = options;
    const folder = join(stack.home, systemRandom.id(12));
    mkdirSync(folder);
    const tenant = new TenantClient(() => stack.dev, WAIT.deadlineMs);
    const { body, status } = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
      ...{ name: 'balanced', type: 'LOAD_BALANCER', image, workers, flashboot },
      cpu: [{ id: 'cpu3c', vcpuCount: vcpus }],
      scaling: { type: 'REQUEST_COUNT', requestCount },
      ...(timeout === undefined ? {} : { timeout }),
      ...(dataCenterIds === undefined ? {} : { dataCenterIds }),
      env: { ...env, FOLDER: folder },
    });
    if (status !== 201) throw new Error(`the endpoint was not made: ${JSON.stringify(body)}`);
    return new BalancedEndpoint(body.id, stack, folder);
  }

  async remove(): Promise<void> {
    await this.#tenant.manage('DELETE', `/v2/serverless/${this.id}`);
    await eventually(async () => expect(await this.workers()).toEqual([]), WAIT);
  }

  /** A next release, with these variables. */
  async release(env: Readonly<Record<string, string>>): Promise<void> {
    const change = { env: { ...env, FOLDER: this.#folder } };
    expect(await this.#tenant.manage('PATCH', `/v2/serverless/${this.id}`, change)).toMatchObject({ status: 200 });
  }

  async workers(): Promise<readonly BalancedWorker[]> {
    return (await this.#list()).workers;
  }

  async isRolledOut(): Promise<boolean> {
    return (await this.#list()).rollout.state === 'done';
  }

  async #list() {
    interface List {
      readonly workers: readonly BalancedWorker[];
      readonly rollout: { readonly state: string };
    }
    const { body, status } = await this.#tenant.manage<List>('GET', `/v2/serverless/${this.id}/workers`);
    // One that is deleted has none.
    return status === 404 ? { workers: [], rollout: { state: 'done' } } : body;
  }

  /** So many workers that take requests, once there are. */
  up(count: number): Promise<readonly BalancedWorker[]> {
    return eventually(async () => {
      const workers = await this.workers();
      expect(workers.map(({ status }) => status === 'IDLE' || status === 'RUNNING')).toEqual(Array(count).fill(true));
      return workers;
    }, WAIT);
  }

  /** Lets go on what waits at it. */
  openGate(gate: string): void {
    writeFileSync(join(this.#folder, gate), '');
  }

  /** What has come to workers and waits at gates, or did. */
  atGates(): readonly Reached[] {
    return this.noted<Reached>('reached.jsonl');
  }

  /** The requests for answers in parts that have come to workers. */
  tokens(): readonly Reached[] {
    return this.noted<Reached>('tokens.jsonl');
  }

  /** What workers have written down in a file of lines, each an object. */
  noted<Line extends object>(file: string): readonly Line[] {
    const path = join(this.#folder, file);
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').split('\n');
    return lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as Line);
  }

  /** The request with the nonce, once it waits at a worker's gate. */
  reached(nonce: string): Promise<Reached> {
    return eventually(() => {
      const found = this.atGates().find((each) => each.nonce === nonce);
      if (found === undefined) throw new Error(`the request ${nonce} has reached no worker`);
      return found;
    }, WAIT);
  }

  /** The head of the answer; its body is the caller's to read. */
  open(path: string, ask: Ask = {}): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const { body, method = body === undefined ? 'GET' : 'POST' } = ask;
      const { host, port } = this.routerAt(ask.router);
      const headers = this.headersOf(ask);
      httpRequest({ host, port, path, method, headers, agent: false }, resolve).on('error', reject).end(body);
    });
  }

  async ask(path: string, ask: Ask = {}): Promise<Outcome> {
    try {
      const answer = await this.open(path, ask);
      const { headers, statusCode: status = 0 } = answer;
      return { kind: 'answered', status, headers, body: await text(answer) };
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!CUT.has(code)) throw error;
      return { kind: 'cut', code };
    }
  }

  /** Where a router answers for the endpoint's own name. */
  webSocketUrl(ask: Ask = {}, path = '/ws'): string {
    const { host, port } = this.routerAt(ask.router);
    return `ws://${host}:${port}${path}`;
  }

  headersOf({ headers = {} }: Ask): Record<string, string> {
    const { apiKey, loadBalancerDomain } = this.#stack.dev;
    return { host: `${this.id}.${loadBalancerDomain}`, authorization: `Bearer ${apiKey}`, ...headers };
  }

  /** Where a router listens. */
  routerAt(router = 0): { readonly host: string; readonly port: string } {
    const { hostname, port } = new URL(this.#stack.dev.routers[router]?.runUrl ?? '');
    return { host: hostname, port };
  }
}
