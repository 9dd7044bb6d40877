import { jobAttributes } from '@berth/contracts';
import type { EndpointId, WorkerId } from '@berth/domain';
import { WAIT_OVER, type Clock, type Random } from '@berth/lifecycle';
import type { Step } from '@berth/telemetry';
import type { Attempt, JobClient, TakenAttempt, TakeOutcome } from '../../job-client/index.js';
import { FreshWorker } from './fresh-worker.js';
import type { HeldJobs } from './held-jobs.js';
import type { BridgeMetrics } from '../metrics.js';
import type { WorkerReply } from '../http/worker-reply.js';
import { DRAIN_HOLD_MS, pollHoldMs } from './poll-hold.js';
import type { StartWaits } from './start-waits.js';

export interface TakePollsOptions {
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
  readonly client: JobClient;
  readonly jobs: HeldJobs;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: BridgeMetrics;
  /** An earlier life of the agent started it. */
  readonly isAdopted: boolean;
  readonly startWaits: Pick<StartWaits, 'note'>;
  readonly onDelivered: (attempt: Attempt) => void;
}

interface Poll {
  readonly slots: number;
  readonly isBatch: boolean;
  readonly reply: WorkerReply;
  readonly endsAtMs: number;
  /** Aborted once the poll has its answer or its caller is gone. */
  readonly closed: AbortController;
}

interface ReadyJob {
  readonly attempt: Attempt;
  readonly text: string;
}

/**
 * A held take outlives its poll and even this process, and what it brings then must be given back or runs into its lease;
 * nor would a longer one leave much of the lease's trust for a renewal in time.
 */
const BRIDGE_TAKE_WAIT_MAX_MS = 5_000;
const TAKE_WAIT_MIN_MS = 500;
const PAUSE_MS = 1_000;
const FAILURE_PAUSE_MIN_MS = 200;
const FAILURE_PAUSE_MAX_MS = 5_000;
/** SDKs up to 1.6.2 poll once per free slot, and these know no `job-take-batch`. */
const POLLS_MAX = 64;
/** Far above what a worker can run at a time: each job that it holds is renewed every few seconds. */
const JOBS_MAX = 1_024;

/** The parked takes of one worker, each with a take of its own at the router. */
export class TakePolls {
  readonly #options: TakePollsOptions;
  readonly #fresh: FreshWorker;
  readonly #open = new Set<Poll>();
  /** Those that came while no job may be given out, for now or any more: nothing is asked for them. */
  readonly #parked = new Set<Poll>();
  readonly #answering = new Set<Promise<unknown>>();
  /** Aborts when jobs may be given out again; null while they may. */
  #held: AbortController | null = null;
  #isClosed = false;
  #takes = 0;
  /** Jobs that takes may still bring, or have brought and not handed out yet. */
  #askedJobs = 0;
  #failures = 0;

  constructor(options: TakePollsOptions) {
    this.#options = options;
    this.#fresh = new FreshWorker(options);
  }

  /** True while the worker waits for a job here. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** True while no job may be given out for now. */
  get isHeld(): boolean {
    return this.#held !== null;
  }

  /** Holds the poll until there is a job or its time is over. */
  async serve(call: { readonly slots: number; readonly isBatch: boolean }, reply: WorkerReply): Promise<void> {
    const { clock, random } = this.#options;
    this.#fresh.noteAsking(clock.monotonicMs());
    if (this.#open.size + this.#parked.size >= POLLS_MAX) {
      await reply.send(429);
      return;
    }
    const poll: Poll = {
      ...call,
      reply,
      endsAtMs: clock.monotonicMs() + (this.#isClosed ? DRAIN_HOLD_MS : pollHoldMs(random)),
      closed: new AbortController(),
    };
    reply.gone.addEventListener('abort', () => this.#close(poll), { once: true });
    if (this.#isClosed) {
      await this.#park(poll);
      return;
    }
    if (this.#held !== null && !(await this.#isOpened(poll, this.#held.signal))) return;
    this.#open.add(poll);
    await this.#feed(poll);
  }

  /**
   * No more jobs: answers every parked poll with 204, and withdraws the takes behind them, which would bring jobs only
   * to have them given back. Resolves when all answers are out.
   */
  async release(): Promise<void> {
    this.#isClosed = true;
    await this.#turnAway();
  }

  /** As `release`, until `open`. A poll that comes meanwhile is held, and nothing is asked for it. */
  async hold(): Promise<void> {
    this.#held ??= new AbortController();
    await this.#turnAway();
  }

  /** Jobs may be given out again, to polls that have come since the last `hold` too. */
  open(): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    this.#fresh.noteResumed(this.#options.clock.monotonicMs());
    held.abort(WAIT_OVER);
  }

  async #turnAway(): Promise<void> {
    const { client, endpointId, workerId } = this.#options;
    this.refresh();
    if (this.#takes > 0) client.withdraw({ endpointId, workerId });
    await Promise.all(this.#answering);
  }

  /** Answers what is parked; a worker that does not leave asks anew, and says by it whether it still runs a job. */
  refresh(): void {
    for (const poll of [...this.#open, ...this.#parked]) void this.#answer(poll, 204);
  }

  /** True once jobs may be given to the poll; false when it has its answer, or its caller is gone. */
  async #isOpened(poll: Poll, opened: AbortSignal): Promise<boolean> {
    await this.#park(poll, opened);
    return !poll.closed.signal.aborted;
  }

  /** Holds the poll, for which nothing is asked, until jobs may be given to it, or it is answered, or its caller is gone. */
  async #park(poll: Poll, opened?: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { signal: closed } = poll.closed;
    this.#parked.add(poll);
    const ends = opened === undefined ? closed : AbortSignal.any([closed, opened]);
    await clock.sleep(poll.endsAtMs - clock.monotonicMs(), ends);
    this.#parked.delete(poll);
    if (!closed.aborted && opened?.aborted !== true) await this.#answer(poll, 204);
  }

  async #feed(poll: Poll): Promise<void> {
    const { clock } = this.#options;
    while (!poll.closed.signal.aborted) {
      const startedAtMs = clock.monotonicMs();
      const leftMs = poll.endsAtMs - startedAtMs;
      if (leftMs <= TAKE_WAIT_MIN_MS) {
        await clock.sleep(Math.max(0, leftMs), poll.closed.signal);
        await this.#answer(poll, 204);
        return;
      }
      await this.#takeFor(poll, Math.min(leftMs, BRIDGE_TAKE_WAIT_MAX_MS));
      // A take is held by the router; one that came back at once without a job for this poll must not be hurried.
      const isHeld = clock.monotonicMs() - startedAtMs >= PAUSE_MS;
      if (!isHeld || this.#failures > 0) await this.#pause(poll);
    }
  }

  async #pause(poll: Poll): Promise<void> {
    const { clock, random } = this.#options;
    const doubledMs = FAILURE_PAUSE_MIN_MS * 2 ** (this.#failures - 1);
    const plainMs = this.#failures === 0 ? PAUSE_MS : Math.min(FAILURE_PAUSE_MAX_MS, doubledMs);
    const pauseMs = Math.min(plainMs * (0.8 + 0.4 * random.fraction()), poll.endsAtMs - clock.monotonicMs());
    await clock.sleep(Math.max(0, pauseMs), poll.closed.signal);
  }

  /** Together with what else is asked for, no more than the worker may hold. */
  async #takeFor(poll: Poll, waitMs: number): Promise<void> {
    const { client, endpointId, jobs, startWaits, workerId } = this.#options;
    const slots = Math.min(poll.slots, JOBS_MAX - jobs.size - this.#askedJobs);
    if (slots <= 0 || !client.canTakeFor(workerId)) return;
    this.#askedJobs += slots;
    try {
      const outcome = await this.#take(slots, waitMs);
      if (outcome?.kind !== 'jobs') return;
      const delaysMs = outcome.jobs.map(({ job }) => job.delayTimeMs);
      startWaits.note(endpointId, this.#fresh, delaysMs);
      await this.#hand(outcome.jobs, poll);
    } finally {
      this.#askedJobs -= slots;
    }
  }

  /** Null when no router answered. */
  async #take(slots: number, waitMs: number): Promise<TakeOutcome | null> {
    const { client, endpointId, workerId } = this.#options;
    this.#takes += 1;
    try {
      const outcome = await client.take({ endpointId, workerId, slots, waitMs: Math.floor(waitMs) });
      this.#failures = 0;
      return outcome;
    } catch {
      // The client has counted it; the worker's poll is held on.
      this.#failures += 1;
      return null;
    } finally {
      this.#takes -= 1;
    }
  }

  /** Gives the jobs to the poll that asked, or to any other that waits; the rest goes back at once. */
  async #hand(taken: readonly TakenAttempt[], asker: Poll): Promise<void> {
    const { client, jobs } = this.#options;
    const texts = await Promise.all(taken.map((each) => client.prepare(each)));
    const ready = taken.flatMap(({ attempt }, order): ReadyJob[] => {
      const text = texts[order] ?? null;
      return text === null || attempt.state !== 'open' ? [] : [{ attempt, text }];
    });
    // Stopped on their way to the worker, which has never had them.
    for (const { attempt } of taken) if (attempt.state !== 'open') void client.letGo(attempt);
    // Results name the job only: while the worker still holds an older attempt of it, the two could not be told apart.
    const isDouble = ({ attempt }: ReadyJob): boolean => jobs.get(attempt.ref.jobId) !== undefined;
    const doubles = ready.filter(isDouble);
    const waiting = ready.filter((job) => !isDouble(job) && job.attempt.stop === null);
    const stopped = ready.filter(({ attempt }) => attempt.stop !== null);
    while (waiting.length > 0) {
      const poll = this.#open.has(asker) ? asker : [...this.#open][0];
      if (poll === undefined) break;
      this.#deliver(poll, waiting.splice(0, poll.slots));
    }
    for (const { attempt } of stopped) client.giveBack(attempt, 'it was not ready for its worker in time');
    for (const { attempt } of doubles) client.giveBack(attempt, 'its worker still holds an older attempt of it');
    for (const { attempt } of waiting) client.giveBack(attempt, 'its worker no longer waited for it');
  }

  #deliver(poll: Poll, ready: readonly ReadyJob[]): void {
    const { client, clock, jobs } = this.#options;
    const steps = ready.map(({ attempt }) => client.step(attempt));
    // Before the answer is written: a quick worker may post its result before the write is known to be flushed.
    for (const { attempt } of ready) jobs.add(attempt, clock.monotonicMs());
    const texts = ready.map(({ text }) => text);
    const answer = this.#answer(poll, 200, poll.isBatch ? `[${texts.join(',')}]` : texts[0]);
    const settled = answer.then((isFlushed) => {
      for (const [order, { attempt }] of ready.entries()) {
        endDelivery(attempt, steps[order] ?? null, isFlushed);
        this.#afterDelivery(attempt, isFlushed);
      }
    });
    this.#track(settled);
  }

  #afterDelivery(attempt: Attempt, isFlushed: boolean): void {
    const { client, jobs, metrics, onDelivered } = this.#options;
    if (isFlushed) {
      metrics.delivered.inc();
      onDelivered(attempt);
    } else if (jobs.remove(attempt)) {
      metrics.undelivered.inc();
      client.giveBack(attempt, 'its worker hung up before it had the job');
    }
  }

  #answer(poll: Poll, status: number, json?: string): Promise<boolean> {
    this.#close(poll);
    const sent = poll.reply.send(status, json);
    this.#track(sent);
    return sent;
  }

  #track(answer: Promise<unknown>): void {
    this.#answering.add(answer);
    void answer.finally(() => this.#answering.delete(answer));
  }

  #close(poll: Poll): void {
    this.#open.delete(poll);
    this.#parked.delete(poll);
    poll.closed.abort(WAIT_OVER);
  }
}

function endDelivery({ ref, workerId }: Attempt, step: Step | null, isFlushed: boolean): void {
  const { attempt, endpointId, jobId } = ref;
  const attributes = jobAttributes({ attempt, endpointId, jobId, workerId });
  step?.end({ name: 'deliver job', attributes, error: isFlushed ? null : 'undelivered' });
}
