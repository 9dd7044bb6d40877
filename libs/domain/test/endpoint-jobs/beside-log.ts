import { expect } from '@jest/globals';
import type { Leftovers, TouchedJob } from '../../src/endpoint-jobs/apply/touched-job.js';
import { OUTPUT_MAX_BYTES } from '../../src/endpoint-jobs/bounds.js';
import type { LogFact } from '../../src/endpoint-jobs/facts.js';
import { deliveryName, type EndpointState } from '../../src/endpoint-jobs/state.js';
import type { JobId } from '../../src/ids.js';
import { INLINE_INPUT_MAX_BYTES } from '../../src/job/index.js';

/** What lies, or may lie, beside one endpoint's log, by the facts alone; and whether it is said to be needed no more in time. */
export class BesideLog {
  readonly #things = new Set<string>();
  readonly #running = new Map<JobId, number>();

  get things(): readonly string[] {
    return [...this.#things];
  }

  note(fact: LogFact, touched: readonly TouchedJob[], state: EndpointState): void {
    if (fact.kind === 'endpoint-deleted') {
      // All that is the endpoint's goes with it.
      this.#things.clear();
      return;
    }
    this.#write(fact);
    for (const each of touched) {
      if (each.now === 'gone') this.#stopped(each.jobId);
      if (each.leftovers !== null) this.#remove(each.jobId, each.leftovers, state);
      else if (each.now === 'gone') expect(this.#of(each.jobId).length === 0 || isUntold(state, each.jobId)).toBe(true);
    }
  }

  #write(fact: LogFact): void {
    if (fact.kind === 'submitted' || fact.kind === 'born-taken') {
      if (fact.job.bodyBytes > INLINE_INPUT_MAX_BYTES) this.#things.add(`${fact.job.jobId} in`);
      if (fact.kind === 'born-taken') this.#running.set(fact.job.jobId, fact.taking.attempt);
    } else if (fact.kind === 'taken') {
      this.#running.set(fact.jobId, fact.taking.attempt);
    } else if (fact.kind === 'progressed' || fact.kind === 'finished') {
      const { attempt, jobId, outputBytes } = fact;
      if (outputBytes > OUTPUT_MAX_BYTES) this.#things.add(`${jobId} out${attempt}`);
      if (fact.kind === 'finished' && fact.chunks > 0) this.#things.add(`${jobId} chunks${attempt}`);
      if (fact.kind === 'finished') this.#running.delete(jobId);
    } else if (fact.kind === 'lost' || fact.kind === 'timed-out' || fact.kind === 'cancelled') {
      this.#stopped(fact.jobId);
    }
  }

  /** Nobody knows what it has written by then. */
  #stopped(jobId: JobId): void {
    const attempt = this.#running.get(jobId);
    if (attempt === undefined) return;
    this.#things.add(`${jobId} out${attempt}`).add(`${jobId} chunks${attempt}`);
    this.#running.delete(jobId);
  }

  #remove(jobId: JobId, leftovers: Leftovers, state: EndpointState): void {
    const living = state.jobs.get(jobId)?.data;
    if (leftovers.of === 'job') {
      expect(living).toBeUndefined();
      expect(isUntold(state, jobId)).toBe(false);
      for (const thing of this.#of(jobId)) this.#things.delete(thing);
      return;
    }
    const { attempt, hasChunks, hasOutput } = leftovers;
    if (hasChunks) {
      expect(living?.attempt).toBeGreaterThan(attempt);
      this.#things.delete(`${jobId} chunks${attempt}`);
    }
    if (!hasOutput) return;
    const told = state.deliveries.get(deliveryName(jobId, attempt))?.data.told;
    expect(told == null || told.outputBytes <= OUTPUT_MAX_BYTES).toBe(true);
    expect(living?.attempt !== attempt || living.outputBytes <= OUTPUT_MAX_BYTES).toBe(true);
    this.#things.delete(`${jobId} out${attempt}`);
  }

  #of(jobId: JobId): readonly string[] {
    return [...this.#things].filter((thing) => thing.startsWith(`${jobId} `));
  }
}

const isUntold = ({ deliveries }: EndpointState, jobId: JobId): boolean =>
  [...deliveries.values()].some(({ data }) => data.jobId === jobId);
