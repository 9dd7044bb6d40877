import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { systemClock } from '@berth/lifecycle';
import type { ContainerEngine } from '@berth/servers';

const run = promisify(execFile);
const MS_PER_SECOND = 1_000;

/** What tests of load-balanced endpoints read of `docker inspect`. */
export interface BalancedContainer {
  readonly Id: string;
  readonly State: { readonly Running: boolean; readonly Paused: boolean };
  readonly HostConfig: { readonly PortBindings: Readonly<Record<string, unknown>> | null };
  readonly NetworkSettings: {
    /** By `port/protocol`; null: the image names it, and nothing of the machine leads there. */
    readonly Ports: Readonly<Record<string, unknown>>;
    readonly Networks: Readonly<Record<string, { readonly IPAddress: string; readonly Gateway: string }>>;
  };
}

/** The containers of an engine by the endpoint that they are for. */
export class BalancedContainers {
  readonly #engine: () => ContainerEngine;

  constructor(engine: () => ContainerEngine) {
    this.#engine = engine;
  }

  /** All of an endpoint, whether they run or not. */
  async of(endpointId: string): Promise<readonly BalancedContainer[]> {
    const filter = `label=berth.endpoint=${endpointId}`;
    const ids = (await this.docker('ps', '--all', '--no-trunc', '--quiet', '--filter', filter)).split('\n');
    const found = ids.filter(Boolean);
    return found.length === 0 ? [] : (JSON.parse(await this.docker('inspect', ...found)) as BalancedContainer[]);
  }

  /** How often it was paused since its engine started. */
  async pausesOf({ Id: id }: BalancedContainer): Promise<number> {
    const filters = ['--filter', `container=${id}`, '--filter', 'event=pause', '--format', '{{.Status}}'];
    const now = String(Math.floor(systemClock.nowMs() / MS_PER_SECOND) + 1);
    const lines = await this.docker('events', '--since', '0', '--until', now, ...filters);
    return lines.split('\n').filter(Boolean).length;
  }

  readonly docker = async (...words: readonly string[]): Promise<string> => {
    const { stdout } = await run('docker', ['--host', this.#engine().host, ...words]);
    return stdout.trim();
  };
}
