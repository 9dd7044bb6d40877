import type { Clock, Random } from '@berth/lifecycle';
import type { WorkerReply } from '../http/worker-reply.js';
import { DRAIN_HOLD_MS, pollHoldMs } from './poll-hold.js';

interface StopPoll {
  readonly reply: WorkerReply;
  wake: AbortController;
}

/** An SDK drops a stop that comes within 0.1 s of the take, so each is repeated until its job ends, at this pace. */
const REPEAT_MS = 1_000;
const POLLS_MAX = 8;

/** The stop channel of one worker (wire contract 1.10). */
export class StopPolls {
  readonly #clock: Clock;
  readonly #random: Random;
  /** Ids of the jobs that must stop and are still held. */
  readonly #stopping: () => readonly string[];
  readonly #polls = new Set<StopPoll>();
  /** When each job was named last, by its id. */
  readonly #toldAtMs = new Map<string, number>();
  #isDraining = false;

  constructor(clock: Clock, random: Random, stopping: () => readonly string[]) {
    this.#clock = clock;
    this.#random = random;
    this.#stopping = stopping;
  }

  /** Holds the poll until a job must stop or its time is over. */
  async serve(reply: WorkerReply): Promise<void> {
    if (this.#polls.size >= POLLS_MAX) {
      await reply.send(429);
      return;
    }
    const holdMs = this.#isDraining ? DRAIN_HOLD_MS : pollHoldMs(this.#random);
    const poll: StopPoll = { reply, wake: new AbortController() };
    this.#polls.add(poll);
    reply.gone.addEventListener('abort', () => poll.wake.abort(), { once: true });
    try {
      await this.#hold(poll, this.#clock.monotonicMs() + holdMs);
    } finally {
      this.#polls.delete(poll);
    }
  }

  /** A job must stop, or a poll's time changed: every parked poll looks again. */
  wake(): void {
    for (const poll of this.#polls) poll.wake.abort();
  }

  /** Answers what is parked; later polls are held for a short time only. */
  release(): void {
    this.#isDraining = true;
    this.answer();
  }

  /** Answers what is parked. */
  answer(): void {
    for (const { reply } of this.#polls) void reply.send(204);
    this.wake();
  }

  async #hold(poll: StopPoll, endsAtMs: number): Promise<void> {
    while (!poll.reply.gone.aborted && !poll.reply.isSent) {
      const nowMs = this.#clock.monotonicMs();
      const jobsToStop = this.#stopping();
      const dueAtMs = this.#dueAtMs(jobsToStop);
      if (nowMs >= dueAtMs) {
        await this.#tell(poll, jobsToStop, nowMs);
      } else if (nowMs >= endsAtMs) {
        await poll.reply.send(204);
      } else {
        poll.wake = new AbortController();
        await this.#clock.sleep(Math.min(dueAtMs, endsAtMs) - nowMs, poll.wake.signal);
      }
    }
  }

  /** When the next of these jobs must be named: at once when it has not been, never when there is none. */
  #dueAtMs(jobIds: readonly string[]): number {
    for (const told of [...this.#toldAtMs.keys()]) if (!jobIds.includes(told)) this.#toldAtMs.delete(told);
    const dueAtMs = jobIds.map((jobId) => (this.#toldAtMs.get(jobId) ?? Number.NEGATIVE_INFINITY) + REPEAT_MS);
    return Math.min(Number.POSITIVE_INFINITY, ...dueAtMs);
  }

  async #tell(poll: StopPoll, jobsToStop: readonly string[], nowMs: number): Promise<void> {
    for (const jobId of jobsToStop) this.#toldAtMs.set(jobId, nowMs);
    if (await poll.reply.send(200, JSON.stringify({ jobsToStop }))) return;
    // Another poll that is parked may carry it.
    for (const jobId of jobsToStop) this.#toldAtMs.delete(jobId);
    this.wake();
  }
}
