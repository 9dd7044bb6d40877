import {
  goneSubject,
  jobSubject,
  readRouterGone,
  readStopMessage,
  stopSubject,
  withdrawSubject,
  type RouterGoneMessage,
  type StopMessage,
  type WithdrawMessage,
} from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { TurnPace } from '@berth/lifecycle';
import type { AgentTransport } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { RouterAskOptions, JobCalls, PartedCalls, PartsOptions, RouterLink } from './router-link.port.js';

/** Text of this length takes a millisecond or more to be written as a message. */
const LARGE_LENGTH = 64 * 1024;
/** Far more than are told of twice. */
const GONE_MAX = 64;
/** A router that lives has so long to answer what another one that has gone may have been asked: it is asked again then. */
const LATE_ANSWER_MS = 250;

/**
 * The routers over NATS: any one that listens answers. Takes that were held when the connection was lost are ended once
 * it is back, by the routers that still hold them or else here, so that no worker waits for an answer that cannot come.
 */
export class TransportRouterLink implements RouterLink {
  readonly #transport: AgentTransport;
  readonly #hostId: HostId;
  readonly #log: Logger;
  /** Wishes that have no answer yet. */
  readonly #wishes = new Map<string, WithdrawMessage>();
  /** Told of by each router that has found them gone, the latest last. */
  readonly #gone = new Set<string>();
  readonly #largeMessages = new TurnPace({ amountMax: 1, resumedMax: 1 });

  constructor(transport: AgentTransport, hostId: HostId, log: Logger) {
    this.#transport = transport;
    this.#hostId = hostId;
    this.#log = log;
    transport.onBack(() => {
      this.#withdrawTakes();
    });
    const hear = (body: unknown): void => this.#hearOfGone(readRouterGone(body));
    transport.listen(goneSubject(hostId), hear, (error) => {
      // What waits for that router has its own time.
      log.warn('A message about a router could not be read.', { error });
    });
  }

  async ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: RouterAskOptions,
  ): Promise<JobCalls[Verb][1]> {
    if (isLarge(request)) await this.#nextTurn();
    return this.#transport.request(jobSubject(this.#hostId, verb), request, options);
  }

  async askParts<Verb extends keyof PartedCalls>(
    verb: Verb,
    request: PartedCalls[Verb][0],
    options: PartsOptions<PartedCalls[Verb][1]>,
  ): Promise<void> {
    const wishes = 'wishes' in request ? request.wishes : [];
    for (const { endpointId, takeId, workerId } of wishes) this.#wishes.set(takeId, { endpointId, workerId });
    const onPart = (reply: PartedCalls[Verb][1]): boolean => {
      for (const answer of reply.answers) if ('takeId' in answer) this.#wishes.delete(answer.takeId);
      return options.onPart(reply);
    };
    try {
      await this.#transport.requestParts(jobSubject(this.#hostId, verb), request, { ...options, onPart });
    } finally {
      for (const { takeId } of wishes) this.#wishes.delete(takeId);
    }
  }

  withdraw(message: WithdrawMessage): void {
    this.#transport.tell(withdrawSubject(this.#hostId), message);
  }

  onStop(listener: (message: StopMessage) => void): () => void {
    const hear = (body: unknown): void => {
      listener(readStopMessage(body));
    };
    return this.#transport.listen(stopSubject(this.#hostId), hear, (error) => {
      // The next renewal says the same, later.
      this.#log.warn('A stop message could not be read.', { error });
    });
  }

  /** One large message in each turn of the event loop: dozens may be ready at once, and renewals must come between. */
  #nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#largeMessages.nextTurn(resolve));
  }

  /** Nobody here knows what it was asked. Routers that live end what they hold, so that what is left is asked again. */
  #hearOfGone(message: RouterGoneMessage | null): void {
    if (message === null || this.#gone.has(message.router)) return;
    const [oldest] = this.#gone;
    if (this.#gone.size >= GONE_MAX && oldest !== undefined) this.#gone.delete(oldest);
    this.#gone.add(message.router);
    this.#withdrawTakes();
    void this.#transport.giveUpUnanswered(LATE_ANSWER_MS);
  }

  #withdrawTakes(): void {
    try {
      for (const worker of this.#wishes.values()) this.withdraw(worker);
    } catch (error) {
      this.#log.debug('Open takes could not be withdrawn; they end by themselves.', { error });
    }
  }
}

/** Parts of an output, and stream chunks. */
function isLarge(request: JobCalls[keyof JobCalls][0]): boolean {
  if ('base64' in request) return request.base64.length >= LARGE_LENGTH;
  return 'body' in request && request.body.length >= LARGE_LENGTH;
}
