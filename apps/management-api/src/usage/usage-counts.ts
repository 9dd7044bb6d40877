import { OTHER_ENDPOINTS, SeriesRoom, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { UsageMetrics } from './metrics.js';
import type { CountedUsage } from './usage.store.js';

type Labels = Record<'account' | 'endpoint' | 'gpu_type' | 'use', string>;

/** Of workers without a GPU. */
const NO_GPU = 'cpu';
/** Accounts, and types of GPUs, of all endpoints without series of their own. */
const OTHERS = '_other';

interface Series {
  readonly labels: Labels;
  /** Of a series that is there at zero: what it is to show in the next pass. Null: it shows what comes at once. */
  held: { workerMs: number; gpuMs: number } | null;
}

/**
 * Shows what was counted as used, of at most 200 endpoints one by one. A series is at zero for a pass before it shows
 * anything: one that is first seen with an amount has not increased for who reads it.
 */
export class UsageCounts {
  readonly #metrics: Pick<UsageMetrics, 'gpuSeconds' | 'workerSeconds'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #room: SeriesRoom;
  /** The series of each endpoint that has its own, and of all others. */
  readonly #series = new Map<string, Map<string, Series>>([[OTHER_ENDPOINTS, new Map()]]);

  constructor(metrics: Pick<UsageMetrics, 'gpuSeconds' | 'workerSeconds'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#room = new SeriesRoom({
      onEnter: (endpoint) => void this.#series.set(endpoint, new Map()),
      onLeave: (endpoint) => this.#drop(endpoint),
    });
  }

  /** A pass begins: series that were at zero since the last one show what they have. */
  begin(): void {
    for (const series of [...this.#series.values()].flatMap((each) => [...each.values()])) {
      const { held } = series;
      series.held = null;
      if (held !== null) this.#show(series.labels, held.workerMs, held.gpuMs);
    }
  }

  /** @param usage what a commit has added */
  note(usage: CountedUsage): void {
    this.#add(this.#seriesOf(usage, 'running'), usage.workerMs, usage.gpuMs);
    this.#add(this.#seriesOf(usage, 'paused'), usage.pausedWorkerMs, usage.pausedGpuMs);
  }

  #add({ held, labels }: Series, workerMs: number, gpuMs: number): void {
    if (held === null) {
      this.#show(labels, workerMs, gpuMs);
      return;
    }
    held.workerMs += workerMs;
    held.gpuMs += gpuMs;
  }

  #show(labels: Labels, workerMs: number, gpuMs: number): void {
    this.#metrics.workerSeconds.inc(labels, workerMs / 1000);
    if (labels.gpu_type !== NO_GPU) this.#metrics.gpuSeconds.inc(labels, gpuMs / 1000);
  }

  #seriesOf(usage: CountedUsage, use: string): Series {
    const labels = this.#labelsOf(usage, use);
    const present = this.#series.get(labels.endpoint);
    const name = `${labels.gpu_type} ${use}`;
    const known = present?.get(name);
    if (known !== undefined) return known;
    const series = { labels, held: { workerMs: 0, gpuMs: 0 } };
    present?.set(name, series);
    this.#show(labels, 0, 0);
    return series;
  }

  #labelsOf({ accountId, endpointId, gpuTypeId }: CountedUsage, use: string): Labels {
    const endpoint = this.#room.labelOf(endpointId, this.#clock.monotonicMs());
    if (endpoint === OTHER_ENDPOINTS) {
      return { account: OTHERS, endpoint, gpu_type: gpuTypeId === null ? NO_GPU : OTHERS, use };
    }
    return { account: accountId, endpoint, gpu_type: gpuTypeId ?? NO_GPU, use };
  }

  #drop(endpoint: EndpointId): void {
    for (const { labels } of this.#series.get(endpoint)?.values() ?? []) {
      this.#metrics.gpuSeconds.remove(labels);
      this.#metrics.workerSeconds.remove(labels);
    }
    this.#series.delete(endpoint);
  }
}
