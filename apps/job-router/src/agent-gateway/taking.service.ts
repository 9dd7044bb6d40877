import type { TakeReply, TakeRequest, WithdrawMessage } from '@berth/contracts';
import type { HostId, Job } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import type { Dispatchers } from './dispatcher/dispatchers.service.js';
import type { HandOut } from './hand-out.service.js';

/** A worker that is not placed, or gets nothing new, is held this long at most, so that asking again costs little. */
const UNPLACED_HOLD_MS = 1_000;

export interface Taken {
  readonly reply: TakeReply;
  /** The jobs in the reply, to be given back if it reaches nobody. */
  readonly jobs: readonly Job[];
}

export interface TakingOptions {
  readonly directory: EndpointDirectory;
  readonly dispatchers: Dispatchers;
  readonly handOut: HandOut;
  readonly clock: Clock;
}

/** Answers workers that ask for jobs. */
export class Taking {
  readonly #directory: EndpointDirectory;
  readonly #dispatchers: Dispatchers;
  readonly #handOut: HandOut;
  readonly #clock: Clock;

  constructor({ directory, dispatchers, handOut, clock }: TakingOptions) {
    this.#directory = directory;
    this.#dispatchers = dispatchers;
    this.#handOut = handOut;
    this.#clock = clock;
  }

  /** @throws PlatformError `service-unavailable` */
  async take(hostId: HostId, { endpointId, workerId, slots, waitMs }: TakeRequest): Promise<Taken> {
    const endpoint = await this.#directory.findEndpoint(endpointId);
    const placement =
      endpoint === null ? 'not-placed' : await this.#directory.placement(endpointId, { hostId, workerId });
    if (placement !== 'placed' || (await this.#isDraining(hostId))) {
      await this.#clock.sleep(Math.min(UNPLACED_HOLD_MS, waitMs));
      return { reply: { kind: placement === 'not-placed' ? 'not-placed' : 'none' }, jobs: [] };
    }
    const jobs = await this.#dispatchers.take(endpointId, { hostId, workerId, slots, waitMs });
    if (jobs.length > 0 && (await this.#isGone(hostId))) {
      await this.giveBack(jobs);
      return { reply: { kind: 'not-placed' }, jobs: [] };
    }
    const handed = await this.#handOut.open(jobs);
    if (handed.length === 0) return { reply: { kind: 'none' }, jobs: [] };
    return { reply: { kind: 'jobs', jobs: handed.map(({ taken }) => taken) }, jobs: handed.map(({ job }) => job) };
  }

  /** Ends what this router holds for a worker that takes no more. */
  withdraw(hostId: HostId, { endpointId, workerId }: WithdrawMessage): void {
    this.#dispatchers.withdraw(endpointId, { hostId, workerId });
  }

  /** Puts jobs back into the queue whose answer reached nobody. */
  giveBack(jobs: readonly Job[]): Promise<void> {
    return this.#dispatchers.giveBack(jobs);
  }

  /** A take is held for long: its host may have been removed meanwhile. Where that cannot be told, it gets nothing. */
  async #isGone(hostId: HostId): Promise<boolean> {
    try {
      return (await this.#directory.findHost(hostId)) === null;
    } catch {
      return true;
    }
  }

  async #isDraining(hostId: HostId): Promise<boolean> {
    return (await this.#directory.findHost(hostId))?.isDraining === true;
  }
}
