import type {
  AssignedJob,
  TakeAsker,
  TakeReply,
  TakeRequest,
  TakenJob,
  WishAnswer,
  WithdrawMessage,
  WorkerWish,
} from '@berth/contracts';
import { PlatformError, type EndpointId, type HostId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { EndpointDirectory } from '../../directory/index.js';
import type { Owners } from '../../owners/index.js';
import type { GiveBack, UndeliveredJobs } from './give-back.js';
import type { JobUnsealer } from './job-unsealer.js';
import type { GatewayMetrics } from '../metrics.js';
import { TurnBatch } from './turn-batch.js';

/** A worker that is not placed, or gets nothing new, is held this long at most, so that asking again costs little. */
const UNPLACED_HOLD_MS = 1_000;
/** The tokens of what a take brings begin with as much chance. */
const SECRET_LENGTH = 24;
/** Of job texts in one message; in it, as JSON in JSON, they come to twice as much at most. */
const MESSAGE_MAX_BYTES = 128 * 1024;
const JOB_BYTES = 512;

/** The outcome of some wishes. */
export interface Taken {
  readonly reply: TakeReply;
  /** The jobs in it, to be given back if the host never hears it. */
  readonly given: readonly UndeliveredJobs[];
}

export interface JobTakingOptions {
  readonly owners: Owners;
  readonly directory: EndpointDirectory;
  readonly opener: JobUnsealer;
  readonly giveBack: GiveBack;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: GatewayMetrics;
  readonly logger: Logger;
}

/** A worker that is held here. */
interface HeldWorker extends WithdrawMessage {
  readonly hostId: HostId;
  readonly asker: TakeAsker;
  /** Aborts when no answer can reach it any more. */
  readonly gone: AbortController;
  isWithdrawn: boolean;
}

/** The answer to a wish, and who asked its owner for it. */
interface Answered {
  readonly answer: WishAnswer;
  readonly asker: TakeAsker;
}

type TakeResult = TakenJobs | Exclude<WishAnswer['kind'], 'jobs'>;
type TakenJobs = readonly TakenJob[];

/** Answers hosts whose workers ask for jobs. Their wishes are held by the owners of their endpoints, and so here. */
export class JobTaking {
  readonly #options: JobTakingOptions;
  readonly #held = new Map<string, Set<HeldWorker>>();
  #isClosed = false;

  constructor(options: JobTakingOptions) {
    this.#options = options;
  }

  /** Wishes that are held. */
  get waiting(): number {
    let waiting = 0;
    for (const held of this.#held.values()) waiting += held.size;
    return waiting;
  }

  /**
   * Never rejects: each wish is answered by itself, as soon as it can be.
   *
   * @param tell told of those that can be at once together, and of each one time
   */
  async take(hostId: HostId, { wishes }: TakeRequest, tell: (taken: Taken) => void): Promise<void> {
    const gathering = new TurnBatch<Answered>({
      tell: (all) => tell({ reply: { answers: all.map(({ answer }) => answer) }, given: all.flatMap(givenOf) }),
      bytesOf: ({ answer }) => bytesOf(answer),
      bytesMax: MESSAGE_MAX_BYTES,
    });
    await Promise.all(wishes.map(async (wish) => gathering.add(await this.#answerTo(hostId, wish))));
    gathering.flush();
  }

  /** Ends what is held here for a worker that takes no more. Every router hears it, and few hold one. */
  withdraw(hostId: HostId, { endpointId, workerId }: WithdrawMessage): void {
    this.#withdraw(this.#held.get(nameOf({ endpointId, hostId, workerId })));
  }

  /**
   * The line to the agents has broken, so no host that is held here can be answered, now or later: an owner that is silent
   * is not asked again in their name, or it would give them the first job that comes.
   */
  withdrawAll(): void {
    for (const held of this.#held.values()) {
      this.#withdraw(held);
      for (const { gone } of held) gone.abort();
    }
  }

  /** Ends what is held, and holds nothing more. */
  close(): void {
    this.#isClosed = true;
    for (const held of this.#held.values()) this.#withdraw(held);
  }

  async #answerTo(hostId: HostId, wish: WorkerWish): Promise<Answered> {
    const { takeId } = wish;
    // An endpoint knows takes by their names, and no host may use another's.
    const asker = { takeId: `${hostId}.${takeId}`, secret: this.#options.random.id(SECRET_LENGTH) };
    const outcome = await this.#whileHeld({ hostId, asker }, wish);
    return {
      asker,
      answer: typeof outcome === 'string' ? { takeId, kind: outcome } : { takeId, kind: 'jobs', jobs: outcome },
    };
  }

  async #whileHeld(by: Pick<HeldWorker, 'hostId' | 'asker'>, wish: WorkerWish): Promise<TakeResult> {
    if (this.#isClosed) return 'none';
    const { endpointId, workerId } = wish;
    const held = { ...by, endpointId, workerId, gone: new AbortController(), isWithdrawn: false };
    const name = nameOf(held);
    const others = this.#held.get(name) ?? new Set();
    this.#held.set(name, others.add(held));
    try {
      return await this.#take(held, wish);
    } catch (error) {
      if (!(error instanceof PlatformError))
        this.#options.logger.error('a wish could not be answered', { ...wish, error });
      return 'unanswered';
    } finally {
      others.delete(held);
      if (others.size === 0) this.#held.delete(name);
    }
  }

  async #take(held: HeldWorker, wish: WorkerWish): Promise<TakeResult> {
    const { clock, metrics } = this.#options;
    const placement = await this.#placementOf(held);
    if (placement !== 'placed') {
      await clock.sleep(Math.min(UNPLACED_HOLD_MS, wish.waitMs));
      return placement === 'not-placed' ? 'not-placed' : 'none';
    }
    if (held.isWithdrawn) return 'none';
    const jobs = await this.#ask(held, wish);
    metrics.taken.inc(jobs.length);
    for (const { body, delayTimeMs } of jobs) metrics.delay.observe({}, delayTimeMs / 1_000, body.traceparent);
    return jobs.length === 0 ? 'none' : this.#deliver(held, jobs);
  }

  async #placementOf({ endpointId, hostId, workerId }: HeldWorker): Promise<'placed' | 'draining' | 'not-placed'> {
    const { directory } = this.#options;
    if ((await directory.findEndpoint(endpointId)) === null) return 'not-placed';
    const placement = await directory.placement(endpointId, { hostId, workerId });
    const isDraining = (await directory.findHost(hostId))?.isDraining === true;
    return placement === 'placed' && isDraining ? 'draining' : placement;
  }

  /** A host that hears nothing of its take asks for it again, of this router or another one. */
  #ask(
    { asker, endpointId, gone, hostId, workerId }: HeldWorker,
    { slots, waitMs }: WorkerWish,
  ): Promise<readonly AssignedJob[]> {
    const wish = { ...asker, hostId, workerId, slots };
    return this.#options.owners.ask(endpointId, 'take', { wish, waitMs }, { heldMs: waitMs, signal: gone.signal });
  }

  /** A take is held for long: its host may have been removed meanwhile. */
  async #deliver({ asker, endpointId, hostId }: HeldWorker, assigned: readonly AssignedJob[]): Promise<TakeResult> {
    const { giveBack, opener } = this.#options;
    if (await this.#isGone(hostId)) {
      await giveBack.all(hostId, [{ asker, jobs: refsOf(endpointId, assigned) }]);
      return 'not-placed';
    }
    const jobs = await opener.open({ endpointId, hostId }, assigned);
    return jobs.length === 0 ? 'none' : jobs;
  }

  /** Where that cannot be told it gets nothing. */
  async #isGone(hostId: HostId): Promise<boolean> {
    try {
      return (await this.#options.directory.findHost(hostId)) === null;
    } catch {
      return true;
    }
  }

  /** Of one worker: its owner ends all that it holds for it. */
  #withdraw(takes: Iterable<HeldWorker> = []): void {
    const news = [...takes].filter(({ isWithdrawn }) => !isWithdrawn);
    for (const held of news) held.isWithdrawn = true;
    const [worker] = news;
    if (worker !== undefined) void this.#tellOwner(worker);
  }

  /** A hint: a take that misses it ends by itself. */
  async #tellOwner({ endpointId, hostId, workerId }: HeldWorker): Promise<void> {
    const { logger, owners } = this.#options;
    try {
      await owners.ask(endpointId, 'withdraw', { hostId, workerId });
    } catch (error) {
      logger.debug('a take could not be withdrawn; it ends by itself', { endpointId, hostId, workerId, error });
    }
  }
}

const nameOf = ({ endpointId, hostId, workerId }: Pick<HeldWorker, 'endpointId' | 'hostId' | 'workerId'>): string =>
  `${endpointId}/${hostId}/${workerId}`;

const refsOf = (endpointId: EndpointId, jobs: readonly AssignedJob[]): UndeliveredJobs['jobs'] =>
  jobs.map(({ attempt, body, jobId, token }) => ({
    ...{ endpointId, jobId, attempt, token },
    traceparent: body.traceparent,
  }));

const jobsOf = (answer: WishAnswer): readonly TakenJob[] => (answer.kind === 'jobs' ? answer.jobs : []);

const givenOf = ({ answer, asker }: Answered): readonly UndeliveredJobs[] =>
  answer.kind === 'jobs' ? [{ asker, jobs: answer.jobs }] : [];

const bytesOf = (answer: WishAnswer): number =>
  jobsOf(answer).reduce(
    (sum, { extras, input }) => sum + extras.length + (input.kind === 'inline' ? input.json.length : 0),
    JOB_BYTES,
  );
