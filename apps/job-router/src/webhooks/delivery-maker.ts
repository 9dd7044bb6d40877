import { DELIVERY_MADE_WITHIN_MS, isUnreadable } from '@berth/domain';
import { putDelivery, readJob, type JobStore } from '@berth/jobs';
import { ControlLoop, inParallel } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';
import { isUnavailable } from '../patiently.js';
import type { WebhookMetrics } from './metrics.js';

export interface DeliveryMakerOptions {
  readonly store: JobStore;
  readonly view: Pick<JobView, 'untold' | 'markTold'>;
  readonly metrics: WebhookMetrics;
  readonly logger: Logger;
}

const INTERVAL_MS = 2_000;

/** Who ends a job makes its delivery right after it; one that is still missing after this needs help. */
export const UNTOLD_GRACE_MS = 5_000;

const PASS_MAX = 500;
const PARALLEL = 8;

/** Makes deliveries that are missing, because a router died before it made them or the store did not answer. */
export class DeliveryMaker {
  readonly #options: DeliveryMakerOptions;
  readonly #loop: ControlLoop;

  constructor(options: DeliveryMakerOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'webhook.maker',
      intervalMs: INTERVAL_MS,
      clock: options.store.clock,
      run: () => this.run(),
      onError: (name, error) => {
        if (isUnavailable(error)) options.logger.debug(`${name} ended early`, { error });
        else options.logger.error(`control loop ${name} failed; it runs again`, { error });
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async run(): Promise<void> {
    await inParallel(this.#suspects(), PARALLEL, async (job) => {
      try {
        await this.#mend(job);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        // Nobody can say how it ended, and whoever is to be told of others must not wait for that.
        this.#options.view.markTold(job);
      }
    });
  }

  #suspects(): readonly JobSighting[] {
    const { store, view } = this.#options;
    const nowMs = store.clock.nowMs();
    const found: JobSighting[] = [];
    for (const job of view.untold()) {
      if (nowMs - (job.endedAtMs ?? nowMs) < UNTOLD_GRACE_MS) continue;
      found.push(job);
      if (found.length === PASS_MAX) break;
    }
    return found;
  }

  async #mend(seen: JobSighting): Promise<void> {
    const { store, view, metrics, logger } = this.#options;
    const isTooLate = store.clock.nowMs() - (seen.endedAtMs ?? 0) > DELIVERY_MADE_WITHIN_MS;
    const isThere = isTooLate || (await store.deliveries.read(seen)) !== null;
    const job = isThere ? null : await readJob(store, seen);
    // One that was queued again, or has gone, is told of by nobody; its next end comes as another sighting.
    if (job?.attempt === seen.attempt) {
      if (!(await putDelivery(store, job))) return;
      metrics.made.inc();
      logger.info('mended: delivery-missing', { endpointId: seen.endpointId, jobId: seen.jobId });
    }
    view.markTold(seen);
  }
}
