import {
  goneSubject,
  jobSubject,
  readDoneReply,
  readDownloadReply,
  readRenewReply,
  readReportReply,
  readRouterGone,
  readStopMessage,
  readTakeReply,
  stopSubject,
  withdrawSubject,
  type RouterGoneMessage,
  type StopMessage,
  type WithdrawMessage,
} from '@berth/contracts';
import type { Reading } from '@berth/domain/shape';
import type { HostId } from '@berth/domain';
import { TurnPace } from '@berth/lifecycle';
import { TransportError, type AgentTransport } from '@berth/messaging';
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
      // Questions that wait for that router have their own time.
      log.warn('A message about a router could not be read.', { error });
    });
  }

  async ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: RouterAskOptions,
  ): Promise<JobCalls[Verb][1]> {
    if (isLarge(request)) await this.#nextTurn();
    const read: (body: unknown) => Reading<JobCalls[Verb][1]> = REPLIES[verb];
    const reply = read(await this.#transport.request(jobSubject(this.#hostId, verb), request, options));
    if (reply.kind === 'value') return reply.value;
    const words = `The answer to "${verb}" cannot be read: ${reply.reason}.`;
    throw new TransportError('unreadable', words, { isRetriable: true });
  }

  async askParts<Verb extends keyof PartedCalls>(
    verb: Verb,
    request: PartedCalls[Verb][0],
    options: PartsOptions<PartedCalls[Verb][1]>,
  ): Promise<void> {
    const wishes = 'wishes' in request ? request.wishes : [];
    for (const { endpointId, takeId, workerId } of wishes) this.#wishes.set(takeId, { endpointId, workerId });
    const read: (body: unknown) => PartedCalls[Verb][1] = PARTED_REPLIES[verb];
    const onPart = (part: unknown): boolean => {
      const reply = read(part);
      for (const answer of reply.answers) if ('takeId' in answer) this.#wishes.delete(answer.takeId);
      return options.onPart(reply);
    };
    try {
      const onLate = (part: unknown): void => options.onLate(read(part));
      const { timeoutMs } = options;
      await this.#transport.requestParts(jobSubject(this.#hostId, verb), request, { timeoutMs, onPart, onLate });
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

  /**
   * The agent does not know what the router was asked. Routers that live end what they hold, so that what is left is
   * asked again.
   */
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

const REPLIES: { readonly [Verb in keyof JobCalls]: (body: unknown) => Reading<JobCalls[Verb][1]> } = {
  renew: readRenewReply,
  chunk: readReportReply,
  progress: readReportReply,
  download: readDownloadReply,
  upload: readReportReply,
};

const PARTED_REPLIES: { readonly [Verb in keyof PartedCalls]: (body: unknown) => PartedCalls[Verb][1] } = {
  take: readTakeReply,
  done: readDoneReply,
};

/** Parts of an output, and stream chunks. */
function isLarge(request: JobCalls[keyof JobCalls][0]): boolean {
  if ('base64' in request) return request.base64.length >= LARGE_LENGTH;
  return 'body' in request && request.body.length >= LARGE_LENGTH;
}
