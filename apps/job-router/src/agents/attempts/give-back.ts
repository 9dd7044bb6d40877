import type { AttemptRef, TakeAsker } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import { loggedTrace, type Logger } from '@berth/telemetry';
import { proofOf, type AttemptOwners } from './attempt-owners.js';
import type { GatewayMetrics } from '../metrics.js';

export interface GiveBackOptions {
  readonly owners: Pick<AttemptOwners, 'takeBack'>;
  readonly random: Random;
  readonly metrics: Pick<GatewayMetrics, 'undelivered'>;
  readonly logger: Logger;
}

interface UndeliveredJob extends AttemptRef {
  readonly traceparent: string | null;
}

/** The answer that an asker was given for a take. */
export interface UndeliveredJobs {
  readonly asker: TakeAsker;
  readonly jobs: readonly UndeliveredJob[];
}

const UNDELIVERED = 'given back: the answer could not be delivered to its host';

/**
 * Queues jobs again that were taken for an answer that was never heard, at no charge. Where the host has asked somebody
 * else for the same take, the job is left to the host.
 */
export class GiveBack {
  readonly #options: GiveBackOptions;

  constructor(options: GiveBackOptions) {
    this.#options = options;
  }

  /** Never rejects: what fails here is lost with its lease. */
  async all(hostId: HostId, given: readonly UndeliveredJobs[]): Promise<void> {
    await Promise.all(given.flatMap(({ asker, jobs }) => jobs.map((job) => this.#one(hostId, asker, job))));
  }

  async #one(hostId: HostId, asker: TakeAsker, ref: UndeliveredJob): Promise<void> {
    const { logger, metrics, owners, random } = this.#options;
    const { attempt, endpointId, jobId } = ref;
    const named = { endpointId, jobId, attempt, hostId, ...loggedTrace(ref.traceparent) };
    try {
      const outcome = await owners.takeBack(endpointId, {
        asker,
        command: {
          ...{ kind: 'give-up', reason: UNDELIVERED, isCharged: false, logTail: [] },
          ...proofOf(hostId, ref),
          fraction: random.fraction(),
        },
      });
      if (outcome === 'superseded') return;
      metrics.undelivered.inc();
      logger.info('a job was queued again: its host was gone', named);
    } catch (error) {
      logger.warn('a job could not be queued again; it is when its lease is over', { ...named, error });
    }
  }
}
