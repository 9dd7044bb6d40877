import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { expect } from '@jest/globals';
import type { TenantClient } from '../../src/tenant-client.js';
import type { BalancedEndpoint } from '../stack/balanced-endpoint.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 200 };
const LOOK_MS = 250;
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'];
/** Of a job, so that there always is one under way. */
const WORK_SECONDS = 1;

interface JobBody {
  readonly id: string;
  readonly status: string;
}

export interface SteadyCallersOptions {
  readonly tenant: TenantClient;
  readonly endpointId: string;
  readonly balanced: BalancedEndpoint;
  /** How many run jobs at a time; one more asks the load-balanced endpoint. */
  readonly callers: number;
}

/** What says that the same may be tried again, since another router is about to keep the endpoint's jobs. */
const TRY_AGAIN = 503;

/**
 * Callers that run jobs one after the other, and ask a load-balanced endpoint. Those of jobs try again where they are told so;
 * the others could not know whether a worker has their request.
 */
export class SteadyCallers {
  /** Whatever was not the answer that it should have been. */
  readonly failures: string[] = [];
  /** Jobs by their ids, with how each ended. */
  readonly jobs = new Map<string, string>();
  answered = 0;
  /** What jobs' callers were told when they had to try again. */
  readonly triedAgain: string[] = [];
  readonly #options: SteadyCallersOptions;
  readonly #callers: readonly Promise<void>[];
  #hasEnded = false;

  constructor(options: SteadyCallersOptions) {
    this.#options = options;
    const runs = Array.from({ length: options.callers }, () => this.#go(() => this.#runJob()));
    this.#callers = [...runs, this.#go(() => this.#ask())];
  }

  /** Resolves when jobs and requests that began after this was called have ended well. */
  async goOn(): Promise<void> {
    const { answered } = this;
    const known = new Set(this.jobs.keys());
    await eventually(() => {
      expect(this.answered).toBeGreaterThan(answered + 1);
      expect([...this.jobs].filter(([id, status]) => !known.has(id) && status === 'COMPLETED')).not.toEqual([]);
    }, WAIT);
  }

  /** Resolves when each caller has had its last answer. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    await Promise.all(this.#callers);
  }

  async #go(turn: () => Promise<void>): Promise<void> {
    while (!this.#hasEnded) {
      try {
        await turn();
      } catch (error) {
        this.#note(String(error));
      }
      await systemClock.sleep(LOOK_MS);
    }
  }

  async #runJob(): Promise<void> {
    const { endpointId, tenant } = this.#options;
    const path = `/${endpointId}/run`;
    const run = await tenant.job<JobBody>('POST', path, { input: { sleep: WORK_SECONDS } });
    if (run.status === TRY_AGAIN) return this.#mustTryAgain(run.body);
    if (run.status !== 200) return this.#note(`run: ${run.status} ${JSON.stringify(run.body)}`);
    let { status } = run.body;
    this.jobs.set(run.body.id, status);
    while (!ENDED.includes(status)) {
      await systemClock.sleep(LOOK_MS);
      const look = await tenant.job<JobBody>('GET', `/${endpointId}/status/${run.body.id}`);
      if (look.status === TRY_AGAIN) this.#mustTryAgain(look.body);
      else if (look.status !== 200) this.#note(`status: ${look.status} ${JSON.stringify(look.body)}`);
      else status = look.body.status;
    }
    this.jobs.set(run.body.id, status);
  }

  async #ask(): Promise<void> {
    // Not the path of health, which is answered at once and never waits for a worker.
    const outcome = await this.#options.balanced.ask('/echo', { body: 'ahoy' });
    if (outcome.kind === 'answered' && outcome.status === 200) this.answered += 1;
    else this.#note(`balanced: ${JSON.stringify(outcome)}`);
  }

  #mustTryAgain(body: unknown): void {
    this.triedAgain.push(`${new Date(systemClock.nowMs()).toISOString()} ${JSON.stringify(body)}`);
  }

  #note(failure: string): void {
    this.failures.push(`${new Date(systemClock.nowMs()).toISOString()} ${failure}`);
  }
}
