import type { JobWatcher, NoticeMessage } from '@berth/contracts';
import type { EndpointId, JobKey } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { JobNews, JobWatch } from './jobs.port.js';
import type { Owners } from '../owners/index.js';
import { HeldWatch } from './held-watch.js';
import type { WatchMetrics } from './metrics.js';

/** The news of jobs that are watched here. */
export interface JobNotices {
  /** Calls `onNotice`, which does not throw, until the returned function is called. */
  listen(onNotice: (notice: NoticeMessage) => void): () => void;
}

export interface JobWatchesOptions {
  readonly owners: Owners;
  readonly notices: JobNotices;
  /** Names this process to owners. */
  readonly incarnation: string;
  readonly clock: Clock;
  readonly metrics: WatchMetrics;
  /** Other than the usual only in a test. */
  readonly watchesMax?: number;
}

/** Each is an entry of a map. A caller beyond that hears no notices, and looks by itself. */
const WATCHES_MAX = 100_000;

/** Callers held in this router. Owners tell what happened to their jobs; what they tell may be lost. */
export class JobWatches {
  readonly #options: JobWatchesOptions;
  readonly #watched = new Map<string, Set<HeldWatch>>();
  #size = 0;
  #stop: (() => void) | undefined;

  constructor(options: JobWatchesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  start(): void {
    this.#stop ??= this.#options.notices.listen(({ endpointId, jobs }) => {
      this.ring(endpointId, jobs);
    });
  }

  stop(): void {
    this.#stop?.();
  }

  /** To be called before the job is made or read, so that nothing in between is missed. */
  watch(key: JobKey, news: JobNews): JobWatch {
    const { clock, metrics, watchesMax = WATCHES_MAX } = this.#options;
    if (this.#size >= watchesMax) {
      metrics.unheard.inc();
      return new HeldWatch({ clock, news, onDispose: () => undefined });
    }
    const name = nameOf(key.endpointId, key.jobId);
    const watch: HeldWatch = new HeldWatch({ clock, news, onDispose: () => this.#remove(name, watch) });
    const watches = this.#watched.get(name);
    if (watches === undefined) this.#watched.set(name, new Set([watch]));
    else watches.add(watch);
    this.#size += 1;
    void this.#register(key, watch);
    return watch;
  }

  /**
   * The watcher of which an owner is to be told with each question about the job; null where no caller here waits for
   * it.
   */
  watcherOf({ endpointId, jobId }: JobKey): JobWatcher | null {
    const watches = this.#watched.get(nameOf(endpointId, jobId));
    if (watches === undefined) return null;
    const news = [...watches].some((watch) => watch.news === 'any') ? 'any' : 'end';
    return { router: this.#options.incarnation, news };
  }

  /** Something happened to jobs, most of which no caller waits for here. */
  ring(endpointId: EndpointId, jobs: NoticeMessage['jobs']): void {
    for (const { jobId, now } of jobs) {
      for (const watch of this.#watched.get(nameOf(endpointId, jobId)) ?? []) {
        if (watch.news === 'any' || now !== 'moved') watch.ring();
      }
    }
  }

  /** The owner that would have told of these endpoints' jobs is gone: each caller looks, and the next owner knows it by that. */
  lookAgain(isConcerned: (endpointId: EndpointId) => boolean): void {
    for (const [name, watches] of this.#watched) {
      if (isConcerned(name.slice(0, name.indexOf('/')) as EndpointId)) for (const watch of watches) watch.ring();
    }
  }

  /** A caller that waits asks now and then anyway, and is registered by that as well: one failure costs a delay. */
  async #register(key: JobKey, watch: HeldWatch): Promise<void> {
    const { endpointId, jobId } = key;
    const { metrics, owners } = this.#options;
    const watcher = this.watcherOf(key);
    try {
      await owners.ask(endpointId, 'find', { jobId, watcher }, { signal: watch.disposed });
    } catch {
      if (!watch.disposed.aborted) metrics.unregistered.inc();
    }
  }

  #remove(name: string, watch: HeldWatch): void {
    const watches = this.#watched.get(name);
    if (watches?.delete(watch) !== true) return;
    this.#size -= 1;
    if (watches.size === 0) this.#watched.delete(name);
  }
}

const nameOf = (endpointId: EndpointId, jobId: string): string => `${endpointId}/${jobId}`;
