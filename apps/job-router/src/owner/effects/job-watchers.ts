import { WATCH_KEPT_MS, type JobWatcher } from '@berth/contracts';
import type { EndpointId, JobKey } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';

interface Watch extends JobWatcher {
  readonly endpointId: EndpointId;
  readonly job: string;
  /** Monotonic. */
  untilMs: number;
}

/** As many callers as one router may hold; a caller that finds no room looks by itself from time to time. */
const ENDPOINT_MAX = 20_000;
const ALL_MAX = 100_000;

/** Routers that wait for news of jobs. Each is forgotten when it does not ask again. */
export class JobWatchers {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By name, the one that ends first at the beginning: all are kept for the same time. */
  readonly #watches = new Map<string, Watch>();
  readonly #byJob = new Map<string, Set<Watch>>();
  readonly #perEndpoint = new Map<EndpointId, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#watches.size;
  }

  /** To be called before the job is looked at, so that nothing in between is missed. */
  watch(key: JobKey, { news, router }: JobWatcher): void {
    this.#forgetOld();
    const job = jobName(key);
    const name = watchName(job, { news, router });
    const untilMs = this.#clock.monotonicMs() + WATCH_KEPT_MS;
    const known = this.#watches.get(name);
    if (known !== undefined) {
      known.untilMs = untilMs;
      this.#watches.delete(name);
      this.#watches.set(name, known);
      return;
    }
    const { endpointId } = key;
    const own = this.#perEndpoint.get(endpointId) ?? 0;
    if (own >= ENDPOINT_MAX || this.#watches.size >= ALL_MAX) return;
    const watch = { endpointId, job, news, router, untilMs };
    this.#watches.set(name, watch);
    this.#perEndpoint.set(endpointId, own + 1);
    const others = this.#byJob.get(job);
    if (others === undefined) this.#byJob.set(job, new Set([watch]));
    else others.add(watch);
  }

  /** The routers that want to hear that, by incarnation. */
  of(key: JobKey, now: 'moved' | 'ended' | 'gone'): readonly string[] {
    this.#forgetOld();
    const watches = [...(this.#byJob.get(jobName(key)) ?? [])];
    const wanted = now === 'moved' ? watches.filter(({ news }) => news === 'any') : watches;
    return [...new Set(wanted.map(({ router }) => router))];
  }

  /** Nothing will happen to the job any more. */
  forget(key: JobKey): void {
    for (const watch of [...(this.#byJob.get(jobName(key)) ?? [])]) this.#remove(watch);
  }

  #forgetOld(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const watch of this.#watches.values()) {
      if (watch.untilMs > nowMs) return;
      this.#remove(watch);
    }
  }

  #remove(watch: Watch): void {
    const { endpointId, job } = watch;
    this.#watches.delete(watchName(job, watch));
    const others = this.#byJob.get(job);
    others?.delete(watch);
    if (others?.size === 0) this.#byJob.delete(job);
    const own = (this.#perEndpoint.get(endpointId) ?? 1) - 1;
    if (own === 0) this.#perEndpoint.delete(endpointId);
    else this.#perEndpoint.set(endpointId, own);
  }
}

const jobName = ({ endpointId, jobId }: JobKey): string => `${endpointId}/${jobId}`;
const watchName = (job: string, { news, router }: JobWatcher): string => `${job}/${news}/${router}`;
