import { systemClock } from '@berth/lifecycle';
import { SeededRandom, eventually } from '@berth/testing';
import { checkCharges, type HostFault } from '@berth/testing/checker';
import { expect } from '@jest/globals';
import type { HookReceiver } from '../crash/hook-receiver.js';
import { attemptsOf } from '../crash/story.js';
import { Tenant } from '../crash/tenant.js';
import type { ProxiedCaller } from './proxied-caller.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
const SUBMITTERS = 2;
const PAUSE_MAX_MS = 400;
const NEWS = 4;
/** More than there are workers. */
const CROWD = 6;
const ENDED = new Set(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);

/** A tenant whose jobs of every kind come all the time. */
export class Traffic {
  readonly tenant: Tenant;
  readonly #api: ProxiedCaller;
  readonly #random: SeededRandom;
  readonly #over = new AbortController();
  readonly #rest = new AbortController();
  readonly #submitters: readonly Promise<void>[];
  readonly #looking: Promise<void>;

  constructor(api: ProxiedCaller, receiver: HookReceiver, seed: number) {
    this.#api = api;
    this.#random = new SeededRandom(seed);
    this.tenant = new Tenant({ api, receiver, random: this.#random });
    this.#submitters = Array.from({ length: SUBMITTERS }, () => this.#submit());
    this.#looking = this.tenant.go(this.#rest.signal);
  }

  /** Resolves when jobs that were accepted after this was called have ended. */
  async goesOn(): Promise<void> {
    const before = this.tenant.entries.length;
    await eventually(() => {
      const late = this.tenant.entries.slice(before).filter(({ reads }) => ENDED.has(reads.at(-1)?.status ?? ''));
      expect(late.length).toBeGreaterThanOrEqual(NEWS);
    }, WAIT);
  }

  /** Resolves when some jobs run while others wait. */
  async crowd(): Promise<void> {
    await eventually(async () => {
      await Promise.all(Array.from({ length: CROWD }, () => this.tenant.submit()));
      const answer = await this.#api.call('GET', '/health');
      const jobs = answer?.body['jobs'] as { readonly inProgress: number; readonly inQueue: number } | undefined;
      expect([jobs?.inProgress, jobs?.inQueue]).not.toContain(0);
    }, WAIT);
  }

  /** No further job, and every one that was accepted comes to its end. */
  async end(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#submitters);
    await eventually(() => expect([this.tenant.restless, this.tenant.untold]).toEqual([[], 0]), WAIT);
    await this.stop();
    await this.tenant.finish();
  }

  /**
   * Jobs that have paid more attempts than these took, each with its attempts and why they ended, as the service tells it.
   *
   * @param absences of agents for longer than a lease lasts
   */
  async chargedUnduly(absences: readonly HostFault[]): Promise<readonly object[]> {
    const looked = [...this.tenant.charges].map(async ([jobId, charged]) => {
      const story = await this.tenant.lookInto(jobId);
      const broken = checkCharges({ jobId, charged, attempts: attemptsOf(story) }, absences);
      return broken.map((promise) => ({ ...promise, kind: story.kind, attempts: story.history }));
    });
    return (await Promise.all(looked)).flat();
  }

  /** Whatever its jobs do, nothing is done with them any more. */
  async stop(): Promise<void> {
    this.#over.abort();
    this.#rest.abort();
    await Promise.all([...this.#submitters, this.#looking]);
  }

  async #submit(): Promise<void> {
    while (!this.#over.signal.aborted) {
      await this.tenant.submit();
      await systemClock.sleep(this.#random.integer(0, PAUSE_MAX_MS), this.#over.signal);
    }
  }
}
