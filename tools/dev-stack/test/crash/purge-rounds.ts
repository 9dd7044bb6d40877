import { systemClock } from '@berth/lifecycle';
import type { SeededRandom } from '@berth/testing';
import type { PurgedQueue } from '@berth/testing/checker';
import type { ApiCaller } from './api-caller.js';

const SUBMITS_PER_ROUND = 12;
const PURGES_PER_ROUND = 2;
const PAUSE_MS = 2_000;
const READ_TRIES_MAX = 100;

/** Fills the queue of an endpoint without workers and purges it meanwhile, round after round. */
export class PurgeRounds {
  readonly #api: ApiCaller;
  readonly #random: SeededRandom;
  readonly #jobIds: string[] = [];
  #unknownSubmits = 0;
  #removed = 0;
  #unknownPurges = 0;

  constructor(api: ApiCaller, random: SeededRandom) {
    this.#api = api;
    this.#random = random;
  }

  async go(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const submits = Array.from({ length: SUBMITS_PER_ROUND }, () => this.#submit());
      const purges = Array.from({ length: PURGES_PER_ROUND }, () => this.#purge());
      await Promise.all([...submits, ...purges]);
      await systemClock.sleep(PAUSE_MS, signal);
    }
  }

  /** The sums, when everything is at rest. */
  async count(): Promise<PurgedQueue> {
    let gone = 0;
    for (const jobId of this.#jobIds) if (await this.#isGone(jobId)) gone += 1;
    return {
      endpointId: this.#api.endpointId,
      accepted: this.#jobIds.length,
      gone,
      unknownSubmits: this.#unknownSubmits,
      removed: this.#removed,
      unknownPurges: this.#unknownPurges,
    };
  }

  async #submit(): Promise<void> {
    await systemClock.sleep(this.#random.integer(0, PAUSE_MS));
    const answer = await this.#api.call('POST', '/run', { body: { input: {} } });
    if (answer === null) this.#unknownSubmits += 1;
    else this.#jobIds.push(String(answer.body['id']));
  }

  async #purge(): Promise<void> {
    await systemClock.sleep(this.#random.integer(0, PAUSE_MS));
    const answer = await this.#api.call('POST', '/purge-queue');
    if (answer === null) this.#unknownPurges += 1;
    else this.#removed += Number(answer.body['removed']);
  }

  async #isGone(jobId: string): Promise<boolean> {
    for (let tries = 0; tries < READ_TRIES_MAX; tries += 1) {
      const answer = await this.#api.call('GET', `/status/${jobId}`);
      if (answer !== null) return answer.status === 404;
      await systemClock.sleep(PAUSE_MS / READ_TRIES_MAX);
    }
    throw new Error(`${jobId} cannot be read`);
  }
}
