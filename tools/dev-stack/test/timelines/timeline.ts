import { systemClock } from '@berth/lifecycle';
import type { TenantClient } from '../../src/tenant-client.js';

export interface Worker {
  readonly id: string;
  readonly status: string;
  readonly reason: string;
  readonly version: number;
  readonly restarts: number;
  readonly hostId?: string;
}

interface WorkerList {
  readonly workers: readonly Worker[];
  readonly rollout: { readonly state: string; readonly reason: string };
}

interface Health {
  readonly jobs: { readonly inQueue: number; readonly inProgress: number; readonly completed: number };
}

/** What the public API said of an endpoint at one instant. */
export interface Moment {
  readonly atMs: number;
  readonly workers: readonly Worker[];
  readonly rollout: WorkerList['rollout'];
  readonly queued: number;
  readonly inProgress: number;
  readonly completed: number;
}

/** One thing that is to be seen, no sooner than the one before it. */
export interface Scene {
  readonly what: string;
  readonly is: (moment: Moment) => boolean;
}

const LOOK_MS = 100;
const LOOKS_MAX = 3_000;

/** Looks at an endpoint as its tenant can, and tells each change in a line. */
export class Timeline {
  readonly #client: TenantClient;
  readonly #endpointId: string;
  readonly #startedMs = systemClock.monotonicMs();
  readonly #moments: Moment[] = [];
  #said = '';

  constructor(client: TenantClient, endpointId: string, title: string) {
    this.#client = client;
    this.#endpointId = endpointId;
    say(`\n${title}`);
  }

  get moments(): readonly Moment[] {
    return this.#moments;
  }

  /** The moment that was looked at last. @throws Error when none was */
  get last(): Moment {
    const moment = this.#moments.at(-1);
    if (moment === undefined) throw new Error('nothing has been looked at yet');
    return moment;
  }

  /** Tells what is done to the endpoint or its hosts, between the changes that follow. */
  note(text: string): void {
    say(`${this.#elapsed()}  — ${text}`);
  }

  /** Looks on until the scenes have been seen in this order; between two of them anything else may be seen. */
  async until(...scenes: readonly Scene[]): Promise<void> {
    let next = 0;
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      const moment = await this.#look();
      while (next < scenes.length && scenes[next]?.is(moment) === true) next += 1;
      if (next === scenes.length) return;
      await systemClock.sleep(LOOK_MS);
    }
    throw new Error(`not seen: ${scenes[next]?.what ?? ''}; the last: ${this.#said}`);
  }

  async #look(): Promise<Moment> {
    const [{ body: list }, { body: health }] = await Promise.all([
      this.#client.manage<WorkerList>('GET', `/v2/serverless/${this.#endpointId}/workers`),
      this.#client.job<Health>('GET', `/${this.#endpointId}/health`),
    ]);
    const { completed, inProgress, inQueue: queued } = health.jobs;
    const { rollout, workers } = list;
    const moment = {
      atMs: systemClock.monotonicMs() - this.#startedMs,
      workers,
      rollout,
      queued,
      inProgress,
      completed,
    };
    this.#moments.push(moment);
    const text = describe(moment);
    if (text !== this.#said) say(`${this.#elapsed()}  ${text}`);
    this.#said = text;
    return moment;
  }

  #elapsed(): string {
    return `t+${((systemClock.monotonicMs() - this.#startedMs) / 1000).toFixed(1)} s`.padEnd(9);
  }
}

/** How many workers have this status. */
export const count = ({ workers }: Moment, ...statuses: readonly string[]): number =>
  workers.filter(({ status }) => statuses.includes(status)).length;

function describe({ completed, inProgress, queued, rollout, workers }: Moment): string {
  const groups = Object.entries(
    Object.groupBy(workers, ({ status, version }) => `v${version} ${status.toLowerCase()}`),
  );
  const told = groups.map(([name, found = []]) => `${found.length} ${name}`).toSorted();
  const words = [
    `workers: ${told.length === 0 ? 'none' : told.join(', ')}`,
    `queue ${queued}`,
    `in progress ${inProgress}`,
    `done ${completed}`,
    ...(rollout.state === 'done' ? [] : [`rollout ${rollout.state}`]),
  ];
  return words.join(' · ');
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
