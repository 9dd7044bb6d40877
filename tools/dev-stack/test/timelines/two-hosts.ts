import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { NODE_BASE_IMAGE, loadNodeBase, pollUntil, type ContainerEngine } from '@berth/servers';
import { StartedStack } from '../../src/started-stack.js';
import { TenantClient } from '../../src/tenant-client.js';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../../../..');
const WORKERS = join(REPOSITORY, 'apps/worker-agent/test/workers');
/** The sample worker as it is told in `examples`. */
export const NODE_ECHO = 'local/node-echo:latest';
/** The sample worker, which crashes while its endpoint's variables say so. */
export const SAMPLE = 'local/timeline:latest';
/** A worker that keeps lines in its volume. */
export const KEEPER = 'local/keeper:latest';
/** A worker that counts aloud. */
export const TALKER = 'local/talker:latest';
/** Of each host. */
export const VCPUS = 8;
export const WITHIN_MS = 120_000;
const LOOK_MS = 100;

export type HostAction = 'cordon' | 'uncordon' | 'drain';

interface HostDetail {
  readonly state: 'ready' | 'cordoned' | 'draining';
  readonly workers: readonly unknown[];
}

/** Two hosts with containers of one engine, and what an operator or an accident does to them. */
export class TwoHosts {
  readonly stack: StartedStack;
  /** The first account, which is the operator too. */
  readonly operator: TenantClient;
  readonly engine: ContainerEngine;

  private constructor(stack: StartedStack, engine: ContainerEngine) {
    this.stack = stack;
    this.engine = engine;
    this.operator = new TenantClient(() => stack.dev, WITHIN_MS);
  }

  /** @param engine that has the base image */
  static async open(engine: ContainerEngine): Promise<TwoHosts> {
    await loadNodeBase(engine);
    await engine.buildImage(NODE_ECHO, join(REPOSITORY, 'examples/workers/node-echo'), { BASE: NODE_BASE_IMAGE });
    await engine.buildImage(SAMPLE, join(import.meta.dirname, 'image'), { BASE: NODE_ECHO });
    await engine.buildImage(KEEPER, join(WORKERS, 'keeper'), { BASE: NODE_BASE_IMAGE });
    await engine.buildImage(TALKER, join(WORKERS, 'talker'), { BASE: NODE_BASE_IMAGE });
    const flags = ['--runtime', 'docker', '--docker-socket', engine.socketPath, '--hosts', '2', '--demo', 'off'];
    return new TwoHosts(await StartedStack.start([...flags, '--vcpus', String(VCPUS), '--rate-limits', 'off']), engine);
  }

  async close(): Promise<void> {
    await this.stack.stop();
    await this.stack.remove();
  }

  /** What another account than the operator's can do. */
  async newAccount(name: string): Promise<TenantClient> {
    const { body } = await this.operator.manage<{ apiKey: { key: string } }>('POST', '/v2/accounts', { name });
    return new TenantClient(() => ({ ...this.stack.dev, apiKey: body.apiKey.key }), WITHIN_MS);
  }

  /** The first host is 0. */
  hostId(host: number): string {
    return this.stack.dev.agents[host]?.hostId ?? '';
  }

  /** Which of the two this is, from 0; -1: neither. */
  hostOf(hostId: string | undefined): number {
    return this.stack.dev.agents.findIndex((agent) => agent.hostId === hostId);
  }

  async act(host: number, action: HostAction): Promise<void> {
    await this.operator.manage('POST', `/v2/hosts/${this.hostId(host)}/action`, { action });
  }

  /** The agent of the second host stands still, or goes on. */
  freeze(signal: 'SIGSTOP' | 'SIGCONT'): void {
    process.kill(this.stack.pidOf('worker-agent-2'), signal);
  }

  /** Ends an agent at once and leaves its containers; resolves when there is a next one. */
  async killAgent(host: number): Promise<void> {
    const name = host === 0 ? 'worker-agent' : 'worker-agent-2';
    const pid = this.stack.pidOf(name);
    process.kill(pid, 'SIGKILL');
    const restarted = (): Promise<true | undefined> =>
      Promise.resolve(this.stack.pidOf(name) === pid ? undefined : true);
    await pollUntil(restarted, { what: `a next ${name}`, deadlineMs: WITHIN_MS, intervalMs: LOOK_MS });
  }

  /** Kills the agent of the second host and ends its containers, as a power cut would. */
  async cutPower(): Promise<void> {
    process.kill(this.stack.pidOf('worker-agent-2'), 'SIGKILL');
    const filter = `label=berth.host=${this.hostId(1)}`;
    const { stdout } = await this.docker('ps', '--quiet', '--filter', filter);
    const found = stdout.split('\n').filter(Boolean);
    if (found.length > 0) await this.docker('rm', '--force', ...found);
  }

  /** Lets both hosts do all again, and resolves when no worker is left on either. */
  async settle(): Promise<void> {
    this.freeze('SIGCONT');
    await Promise.all([this.act(0, 'uncordon'), this.act(1, 'uncordon')]);
    const look = async (host: number): Promise<true | undefined> => {
      const { body } = await this.operator.manage<HostDetail>('GET', `/v2/hosts/${this.hostId(host)}`);
      return body.workers.length === 0 && body.state === 'ready' ? true : undefined;
    };
    const within = { deadlineMs: WITHIN_MS, intervalMs: LOOK_MS };
    await Promise.all(
      [0, 1].map((host) => pollUntil(() => look(host), { what: `an empty host ${host + 1}`, ...within })),
    );
  }

  readonly docker = (...words: readonly string[]): Promise<{ readonly stdout: string }> =>
    run('docker', ['--host', this.engine.host, ...words]);
}
