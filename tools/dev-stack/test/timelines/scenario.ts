import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { NODE_BASE_IMAGE, loadNodeBase, pollUntil, type ContainerEngine } from '@berth/servers';
import { StartedStack } from '../../src/started-stack.js';
import { TenantClient } from '../../src/tenant-client.js';

const run = promisify(execFile);
const NODE_ECHO = 'local/node-echo:latest';
const IMAGE = 'local/timeline:latest';
const KEEPER = 'local/keeper:latest';
const KEEPER_FOLDER = resolve(import.meta.dirname, '../../../../apps/worker-agent/test/workers/keeper');
const EXAMPLE = resolve(import.meta.dirname, '../../../../examples/workers/node-echo');
/** Room for all workers of a scenario on either host. */
const VCPUS = 8;
const WITHIN_MS = 120_000;

interface Job {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly workerId: string | null;
}

export interface Kept {
  readonly workerId: string;
  readonly output: { readonly lines: readonly string[] };
}

/** Two hosts with containers, and what a tenant and an operator do there. */
export class Scenario {
  readonly stack: StartedStack;
  readonly client: TenantClient;
  readonly #engine: ContainerEngine;

  private constructor(stack: StartedStack, engine: ContainerEngine) {
    this.stack = stack;
    this.#engine = engine;
    this.client = new TenantClient(() => stack.dev, WITHIN_MS);
  }

  /** @param engine that has the base image */
  static async open(engine: ContainerEngine): Promise<Scenario> {
    await loadNodeBase(engine);
    await engine.buildImage(NODE_ECHO, EXAMPLE, { BASE: NODE_BASE_IMAGE });
    await engine.buildImage(IMAGE, join(import.meta.dirname, 'image'), { BASE: NODE_ECHO });
    await engine.buildImage(KEEPER, KEEPER_FOLDER, { BASE: NODE_BASE_IMAGE });
    const flags = ['--runtime', 'docker', '--docker-socket', engine.socketPath, '--hosts', '2', '--demo', 'off'];
    return new Scenario(await StartedStack.start([...flags, '--vcpus', String(VCPUS), '--rate-limits', 'off']), engine);
  }

  async close(): Promise<void> {
    await this.stack.stop();
    await this.stack.remove();
  }

  async create(name: string, workers: { readonly min: number; readonly max: number }, env = {}): Promise<string> {
    const { body } = await this.client.manage<{ readonly id: string }>('POST', '/v2/serverless', {
      ...{ name, type: 'QUEUE', image: IMAGE, cpu: [{ id: 'cpu3c', vcpuCount: 2 }], workers },
      env: { ECHO_SLOTS: '1', ...env },
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    });
    return body.id;
  }

  /** One worker on each host, which is too small for two; they share a volume. */
  async createKeepers(name: string): Promise<string> {
    const volume = { name, size: 10, dataCenter: 'LOCAL-1' };
    const { body: made } = await this.client.manage<{ readonly id: string }>('POST', '/v2/network-volumes', volume);
    const { body } = await this.client.manage<{ readonly id: string }>('POST', '/v2/serverless', {
      ...{ name, type: 'QUEUE', image: KEEPER, cpu: [{ id: 'cpu3c', vcpuCount: VCPUS }], networkVolumes: [made.id] },
      workers: { min: 2, max: 2 },
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    });
    return body.id;
  }

  /** All lines that a keeper finds after it has added one, and which worker it is. */
  async keep(endpointId: string, line: string): Promise<Kept> {
    const { body } = await this.client.job<Kept>('POST', `/${endpointId}/runsync`, { input: { keep: line } });
    return body;
  }

  async release(endpointId: string, env: object): Promise<void> {
    await this.client.manage('PATCH', `/v2/serverless/${endpointId}`, { env: { ECHO_SLOTS: '1', ...env } });
  }

  async remove(endpointId: string): Promise<void> {
    await this.client.manage('DELETE', `/v2/serverless/${endpointId}`);
  }

  submit(endpointId: string, jobs: number, seconds: number): Promise<readonly string[]> {
    const one = async (): Promise<string> =>
      (await this.client.job<Job>('POST', `/${endpointId}/run`, { input: { sleep: seconds } })).body.id;
    return Promise.all(Array.from({ length: jobs }, one));
  }

  /** The jobs, once all have ended. */
  async ended(endpointId: string, ids: readonly string[]): Promise<readonly Job[]> {
    const one = (id: string): Promise<Job> =>
      pollUntil(
        async () => {
          const { body } = await this.client.job<Job>('GET', `/${endpointId}/requests/${id}`);
          return ['IN_QUEUE', 'IN_PROGRESS'].includes(body.status) ? undefined : body;
        },
        { what: `the end of job ${id}`, deadlineMs: WITHIN_MS, intervalMs: 100 },
      );
    return Promise.all(ids.map(one));
  }

  hostId(agent: number): string {
    return this.stack.dev.agents[agent]?.hostId ?? '';
  }

  async actOnHost(agent: number, action: 'cordon' | 'uncordon' | 'drain'): Promise<void> {
    await this.client.manage('POST', `/v2/hosts/${this.hostId(agent)}/action`, { action });
  }

  /** The agent of the second host stands still, or goes on. */
  freeze(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.stack.pidOf('worker-agent-2'), signal);
  }

  /** Kills the agent of the second host and ends its containers, as a power cut would. */
  async cutPower(): Promise<void> {
    process.kill(this.stack.pidOf('worker-agent-2'), 'SIGKILL');
    const filter = `label=berth.host=${this.hostId(1)}`;
    const { stdout } = await this.#docker('ps', '--quiet', '--filter', filter);
    const found = stdout.split('\n').filter(Boolean);
    if (found.length > 0) await this.#docker('rm', '--force', ...found);
  }

  readonly #docker = (...words: readonly string[]): Promise<{ readonly stdout: string }> =>
    run('docker', ['--host', this.#engine.host, ...words]);
}
