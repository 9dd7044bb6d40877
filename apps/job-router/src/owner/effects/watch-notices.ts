import type { NoticeMessage } from '@berth/contracts';
import type { EndpointId, JobId, JobKey, TouchedJob } from '@berth/domain';
import type { JobWatchers } from './job-watchers.js';

type News = TouchedJob['now'];

export interface WatchNoticesOptions {
  readonly watchers: JobWatchers;
  /** Tells one router, by its incarnation, which may be this very one. Must not throw. */
  readonly tell: (router: string, notice: NoticeMessage) => void;
  /** Calls `run` when this turn of the event loop is over. */
  readonly atEndOfTurn: (run: () => void) => void;
}

/** Jobs in one message: it stays far below what the broker takes. */
const JOBS_PER_MESSAGE = 2_000;

/** The weight of each news: of a job of which several things happened at once, the heaviest is told. */
const WEIGHT: Readonly<Record<News, number>> = { moved: 0, ended: 1, gone: 2 };

/** The news of one endpoint that one router is to be told. */
interface Pending {
  readonly router: string;
  readonly endpointId: EndpointId;
  readonly news: Map<JobId, News>;
}

/** Tells routers of the jobs that they watch: of all that happened in one turn of the event loop together. */
export class WatchNotices {
  readonly #options: WatchNoticesOptions;
  /** By router and endpoint. */
  readonly #pending = new Map<string, Pending>();

  constructor(options: WatchNoticesOptions) {
    this.#options = options;
  }

  note(key: JobKey, now: News): void {
    const { atEndOfTurn, watchers } = this.#options;
    if (watchers.size === 0) return;
    for (const router of watchers.of(key, now)) {
      if (this.#pending.size === 0) atEndOfTurn(() => this.#send());
      const { news } = this.#pendingOf(router, key.endpointId);
      const before = news.get(key.jobId);
      if (before === undefined || WEIGHT[now] > WEIGHT[before]) news.set(key.jobId, now);
    }
    if (now === 'gone') watchers.forget(key);
  }

  #pendingOf(router: string, endpointId: EndpointId): Pending {
    const name = `${router} ${endpointId}`;
    const known = this.#pending.get(name) ?? { router, endpointId, news: new Map<JobId, News>() };
    this.#pending.set(name, known);
    return known;
  }

  #send(): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { endpointId, news, router } of pending) {
      const jobs = [...news].map(([jobId, now]) => ({ jobId, now }));
      for (let from = 0; from < jobs.length; from += JOBS_PER_MESSAGE) {
        this.#options.tell(router, { endpointId, jobs: jobs.slice(from, from + JOBS_PER_MESSAGE) });
      }
    }
  }
}
