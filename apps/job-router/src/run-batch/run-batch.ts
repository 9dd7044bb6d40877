import { PlatformError, encodeJson, type RawJson } from '@berth/domain';
import { toProblem } from '@berth/http';
import type { Logger } from '@berth/telemetry';
import type { JobRates } from '../job-rate-limits/index.js';
import type { ItemOutcome } from '../edge/index.js';
import type { IncomingRequest, JobIntake } from '../jobs/index.js';
import type { BatchMetrics } from './metrics.js';

export interface RunBatchOptions {
  readonly intake: Pick<JobIntake, 'runBatch'>;
  readonly rates: Pick<JobRates, 'countMore'>;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  readonly metrics: BatchMetrics;
  readonly logger: Logger;
}

/** Accepts lists of jobs. */
export class RunBatch {
  readonly #options: RunBatchOptions;

  constructor(options: RunBatchOptions) {
    this.#options = options;
  }

  /**
   * The outcome of each request of the list, in its order.
   *
   * @throws PlatformError for a list that is refused as a whole; what the first one failed of, when none was accepted
   */
  async run(incoming: IncomingRequest): Promise<RawJson> {
    const { intake, metrics, rates } = this.#options;
    const outcomes = await intake.runBatch({
      ...incoming,
      // The request itself has been counted at the door.
      admit: (size) => {
        rates.countMore(incoming.endpoint.id, 'run', size - 1);
      },
    });
    const [first] = outcomes;
    const accepted = outcomes.filter(({ kind }) => kind === 'accepted').length;
    if (accepted === 0 && first?.kind === 'failed') throw first.error;
    metrics.batches.inc();
    metrics.rejected.inc(outcomes.length - accepted);
    const jobs = outcomes.map((outcome) => this.#itemOf(outcome));
    return encodeJson({ jobs, accepted, rejected: outcomes.length - accepted });
  }

  #itemOf(outcome: ItemOutcome): object {
    if (outcome.kind === 'accepted') return { id: outcome.id, status: 'IN_QUEUE' };
    const { docsUrl, logger } = this.#options;
    const { code, title, detail } = toProblem(outcome.error);
    if (!(outcome.error instanceof PlatformError))
      logger.error('a job of a list could not be accepted', { error: outcome.error });
    return { error: { type: `${docsUrl}/problems/${code}`, title, detail } };
  }
}
