import {
  hostDemandSubject,
  hostSubject,
  type WitnessMessage,
  inboxPrefix,
  logAnswerSubject,
  logsSubject,
  readLogsRequest,
  readWakeMessage,
  tunnelSubject,
  type LogsReply,
  type LogsRequest,
  wakeSubject,
  type WakeMessage,
  type ReportRequest,
  type StopMessage,
  type WithdrawMessage,
} from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { AgentTransport, TransportError, newConnectionLog } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import {
  type RouterAskOptions,
  isPartedPayload,
  isPayload,
  type JobCalls,
  type PartedCalls,
  type PartsOptions,
  type RouterLink,
  TransportRouterLink,
} from '../job-client/index.js';
import { BrokerLine } from './broker-line.js';
import type { ConnectAs } from './joining/join-host.js';

export interface AgentLinkOptions {
  readonly hostId: HostId;
  readonly secret: string;
  readonly connect: (as: ConnectAs) => Promise<NatsConnection>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Answers what the control plane asks of logs. */
  readonly onLogs: (request: LogsRequest) => Promise<LogsReply>;
  /** Told of each time that the broker lets this host in, or refuses it. */
  readonly onAdmission?: (isAdmitted: boolean) => void;
}

const REPORT_TIMEOUT_MS = 10_000;
/** The agent has nothing better to do than to try on: its workers go on meanwhile. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

interface OpenLink {
  readonly transport: AgentTransport;
  readonly routers: RouterLink;
}

/**
 * The agent's way to the broker. It stands some time after `start`, and again after every interruption: an agent that
 * waited for it would keep its workers waiting. A question while it does not stand is rejected.
 *
 * There are two connections: on a slow line a renewal would wait behind every chunk and part of an output that was sent
 * before it over the same one, until its lease is over. So what is large goes over one of its own.
 */
export class AgentLink implements RouterLink {
  readonly #options: AgentLinkOptions;
  readonly #stopListeners = new Set<(message: StopMessage) => void>();
  readonly #wakeListeners = new Set<(message: WakeMessage) => void>();
  readonly #offerListeners = new Set<(offer: unknown) => void>();
  readonly #line: BrokerLine;
  readonly #payloadLine: BrokerLine;
  #open: OpenLink | null = null;
  #payload: OpenLink | null = null;

  constructor(options: AgentLinkOptions) {
    const { logger } = options;
    this.#options = options;
    this.#line = new BrokerLine({
      connect: (signal) => this.#connect('broker', signal),
      onOpen: (connection) => this.#use(connection),
      logger,
    });
    this.#payloadLine = new BrokerLine({
      connect: (signal) => this.#connect('broker for payload', signal),
      onOpen: (connection) => {
        this.#payload = this.#linkOver(connection);
        this.#answerLogs(this.#payload.transport);
      },
      logger,
    });
  }

  /** Returns at once. */
  start(): void {
    this.#line.start();
    this.#payloadLine.start();
  }

  /** Resolves when the connection stands, when the time is over, or when the signal aborts. */
  async connected(withinMs: number, signal?: AbortSignal): Promise<void> {
    const stands = new AbortController();
    const unsubscribe = this.onWake(() => {
      stands.abort();
    });
    const until = signal === undefined ? stands.signal : AbortSignal.any([signal, stands.signal]);
    if (this.#line.connection === null) await this.#options.clock.sleep(withinMs, until);
    unsubscribe();
  }

  /** Rejects while the broker does not answer over one of the two: without payload no job's end is told. */
  async check(): Promise<void> {
    const connections = [this.#line.connection, this.#payloadLine.connection];
    await Promise.all(connections.map((each) => (each === null ? Promise.reject(notConnected()) : each.flush())));
  }

  async ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: RouterAskOptions,
  ): Promise<JobCalls[Verb][1]> {
    return this.#linkFor(isPayload(verb)).routers.ask(verb, request, options);
  }

  async askParts<Verb extends keyof PartedCalls>(
    verb: Verb,
    request: PartedCalls[Verb][0],
    options: PartsOptions<PartedCalls[Verb][1]>,
  ): Promise<void> {
    await this.#linkFor(isPartedPayload(request)).routers.askParts(verb, request, options);
  }

  withdraw(message: WithdrawMessage): void {
    present(this.#line, this.#open).routers.withdraw(message);
  }

  async report(request: ReportRequest): Promise<unknown> {
    const subject = hostSubject(this.#options.hostId, 'report');
    return present(this.#line, this.#open).transport.request(subject, request, { timeoutMs: REPORT_TIMEOUT_MS });
  }

  /** Tells those who listen now; nobody answers. @throws TransportError while the connection does not stand */
  tellDemand(message: WitnessMessage): void {
    const connection = this.#line.connection;
    if (connection === null) throw notConnected();
    connection.publish(hostDemandSubject(this.#options.hostId), JSON.stringify(message));
  }

  onStop(listener: (message: StopMessage) => void): () => void {
    this.#stopListeners.add(listener);
    return () => this.#stopListeners.delete(listener);
  }

  /** Called when the control plane has news, and whenever the connection stands again. */
  onWake(listener: (message: WakeMessage) => void): () => void {
    this.#wakeListeners.add(listener);
    return () => this.#wakeListeners.delete(listener);
  }

  /** Called when a router offers a tunnel; nothing of what it says has been checked. */
  onTunnelOffer(listener: (offer: unknown) => void): void {
    this.#offerListeners.add(listener);
  }

  async close(): Promise<void> {
    await Promise.all([this.#line.close(), this.#payloadLine.close()]);
  }

  /** @throws TransportError while the connection does not stand */
  #linkFor(isForPayload: boolean): OpenLink {
    return isForPayload ? present(this.#payloadLine, this.#payload) : present(this.#line, this.#open);
  }

  #connect(name: string, signal: AbortSignal): Promise<NatsConnection> {
    const { hostId, secret, logger, onAdmission } = this.#options;
    const log = newConnectionLog(logger, name);
    return this.#options.connect({
      credentials: { kind: 'password', user: hostId, pass: secret },
      inboxPrefix: inboxPrefix(hostId),
      connectWithinMs: FOR_EVER_MS,
      signal,
      onStatus: (event) => {
        log(event);
        if (/authorization/i.test(event.detail)) onAdmission?.(false);
        if (event.kind !== 'reconnect') return;
        onAdmission?.(true);
        this.#wake();
      },
    });
  }

  #linkOver(connection: NatsConnection): OpenLink {
    const { hostId, logger } = this.#options;
    const transport = new AgentTransport(connection);
    return { transport, routers: new TransportRouterLink(transport, hostId, logger) };
  }

  #use(connection: NatsConnection): void {
    const open = this.#linkOver(connection);
    open.routers.onStop((message) => {
      for (const listener of this.#stopListeners) listener(message);
    });
    // A hint, so one that cannot be read is as good as one without content.
    const wake = (body: unknown): void => this.#wake(readWakeMessage(body));
    open.transport.listen(wakeSubject(this.#options.hostId), wake, () => this.#wake());
    this.#hearOffers(open.transport);
    this.#open = open;
    this.#options.onAdmission?.(true);
    this.#wake();
  }

  #hearOffers(transport: AgentTransport): void {
    const { hostId, logger } = this.#options;
    const hear = (offer: unknown): void => {
      for (const listener of this.#offerListeners) listener(offer);
    };
    transport.listen(tunnelSubject(hostId), hear, (error) => {
      logger.warn('The offer of a tunnel could not be read.', { error });
    });
  }

  /** Over the connection for what is large: a reader of logs must not keep a renewal waiting. */
  #answerLogs(transport: AgentTransport): void {
    const { hostId, onLogs } = this.#options;
    transport.answer(logsSubject(hostId), logAnswerSubject(hostId, ''), (body) =>
      onLogs(requireRead(readLogsRequest(body))),
    );
  }

  #wake(message: WakeMessage = { resumedIds: [] }): void {
    for (const listener of this.#wakeListeners) listener(message);
  }
}

/** @throws TransportError while the connection does not stand */
function present(line: BrokerLine, link: OpenLink | null): OpenLink {
  if (line.connection !== null && link !== null) return link;
  throw notConnected();
}

const notConnected = (): TransportError =>
  new TransportError('not-connected', 'There is no connection to the broker yet.', { isRetriable: true });
