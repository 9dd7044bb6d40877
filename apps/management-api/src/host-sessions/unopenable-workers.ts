import type { HostId, WorkerId } from '@berth/domain';
import { SecretError } from '@berth/secrets';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { reportMetrics } from './metrics.js';

export interface UnopenableWorker {
  readonly workerId: WorkerId;
  readonly error: unknown;
}

/** Hosts of which it is remembered what was logged; the workers of those that come after them are counted only. */
const HOSTS_MAX = 10_000;

/** Workers whose variables could not be opened for their host: each is counted and logged once until it can be. */
export class UnopenableWorkers {
  readonly #logger: Logger;
  readonly #total;
  readonly #known = new Map<HostId, ReadonlySet<WorkerId>>();

  constructor(metrics: MetricRegistry, logger: Logger) {
    this.#logger = logger;
    this.#total = reportMetrics(metrics).unopenable;
  }

  /** @param workers all of the host that could not be opened for its last answer */
  note(hostId: HostId, workers: readonly UnopenableWorker[]): void {
    const before = this.#known.get(hostId);
    this.#known.delete(hostId);
    if (workers.length === 0) return;
    const isRemembered = this.#known.size < HOSTS_MAX;
    if (isRemembered) this.#known.set(hostId, new Set(workers.map(({ workerId }) => workerId)));
    for (const { workerId, error } of workers) {
      if (before?.has(workerId) === true) continue;
      this.#total.inc();
      if (!isRemembered) continue;
      // Without the text of another error, which may quote a variable.
      const reason = error instanceof SecretError ? error.message : 'they are no JSON';
      this.#logger.error('the variables of a worker cannot be opened; it is not started', { hostId, workerId, reason });
    }
  }
}
