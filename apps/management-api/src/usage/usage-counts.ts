import { OTHER_ENDPOINTS, SeriesRoom, type EndpointId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { UsageMetrics } from './metrics.js';
import type { CountedUsage } from './usage.store.js';

type Labels = Record<'account' | 'endpoint' | 'gpu_type' | 'use', string>;

/** Of workers without a GPU. */
const NO_GPU = 'cpu';
/** Accounts, and types of GPUs, of all endpoints without series of their own. */
const OTHERS = '_other';

/** Shows what was counted as used, of at most 200 endpoints one by one. */
export class UsageCounts {
  readonly #metrics: Pick<UsageMetrics, 'gpuSeconds' | 'workerSeconds'>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #room: SeriesRoom;
  /** The series of each endpoint that has its own. */
  readonly #series = new Map<string, Map<string, Labels>>();

  constructor(metrics: Pick<UsageMetrics, 'gpuSeconds' | 'workerSeconds'>, clock: Pick<Clock, 'monotonicMs'>) {
    this.#metrics = metrics;
    this.#clock = clock;
    this.#room = new SeriesRoom({
      onEnter: (endpoint) => void this.#series.set(endpoint, new Map()),
      onLeave: (endpoint) => this.#drop(endpoint),
    });
  }

  /** @param usage what a commit has added */
  note(usage: CountedUsage): void {
    this.#add(this.#labelsOf(usage, 'running'), usage.workerMs, usage.gpuMs);
    this.#add(this.#labelsOf(usage, 'paused'), usage.pausedWorkerMs, usage.pausedGpuMs);
  }

  /** From zero, also where nothing was used so far: the first use is an increase then. */
  #add(labels: Labels, workerMs: number, gpuMs: number): void {
    this.#metrics.workerSeconds.inc(labels, workerMs / 1000);
    if (labels.gpu_type !== NO_GPU) this.#metrics.gpuSeconds.inc(labels, gpuMs / 1000);
  }

  #labelsOf({ accountId, endpointId, gpuTypeId }: CountedUsage, use: string): Labels {
    const endpoint = this.#room.labelOf(endpointId, this.#clock.monotonicMs());
    if (endpoint === OTHER_ENDPOINTS) {
      return { account: OTHERS, endpoint, gpu_type: gpuTypeId === null ? NO_GPU : OTHERS, use };
    }
    const labels = { account: accountId, endpoint, gpu_type: gpuTypeId ?? NO_GPU, use };
    this.#series.get(endpoint)?.set(`${labels.gpu_type} ${use}`, labels);
    return labels;
  }

  #drop(endpoint: EndpointId): void {
    for (const labels of this.#series.get(endpoint)?.values() ?? []) {
      this.#metrics.gpuSeconds.remove(labels);
      this.#metrics.workerSeconds.remove(labels);
    }
    this.#series.delete(endpoint);
  }
}
