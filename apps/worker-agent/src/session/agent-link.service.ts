import {
  hostSubject,
  inboxPrefix,
  wakeSubject,
  type HostReply,
  type ReportRequest,
  type StopMessage,
  type WithdrawMessage,
} from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { AgentTransport, TransportError } from '@berth/messaging';
import type { Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { TransportRouterLink } from '../job-client/job-client.service.js';
import type { AskOptions, JobCalls, RouterLink } from '../job-client/router-link.port.js';
import type { ConnectAs } from './join-host.js';

export interface AgentLinkOptions {
  readonly hostId: HostId;
  readonly secret: string;
  readonly connect: (as: ConnectAs) => Promise<NatsConnection>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const REPORT_TIMEOUT_MS = 10_000;
/** The agent has nothing better to do than to try on: its workers go on meanwhile. */
const FOR_EVER_MS = Number.MAX_SAFE_INTEGER;

interface OpenLink {
  readonly connection: NatsConnection;
  readonly transport: AgentTransport;
  readonly routers: RouterLink;
}

/**
 * The agent's one connection to the broker. It stands some time after `start`, and again after every interruption: an
 * agent that waited for it would keep its workers waiting. What is asked while it does not stand is rejected.
 */
export class AgentLinkService implements RouterLink {
  readonly #options: AgentLinkOptions;
  readonly #closing = new AbortController();
  readonly #stopListeners = new Set<(message: StopMessage) => void>();
  readonly #wakeListeners = new Set<() => void>();
  #open: OpenLink | null = null;
  #connecting: Promise<void> | undefined;

  constructor(options: AgentLinkOptions) {
    this.#options = options;
  }

  /** Returns at once. */
  start(): void {
    this.#connecting ??= this.#stayConnected();
  }

  /** Resolves when the connection stands, or when the time is over. */
  async connected(withinMs: number): Promise<void> {
    const stands = new AbortController();
    const unsubscribe = this.onWake(() => {
      stands.abort();
    });
    if (this.#open === null) await this.#options.clock.sleep(withinMs, stands.signal);
    unsubscribe();
  }

  /** Rejects while the broker does not answer. */
  async check(): Promise<void> {
    await this.#present().connection.flush();
  }

  async ask<Verb extends keyof JobCalls>(
    verb: Verb,
    request: JobCalls[Verb][0],
    options: AskOptions,
  ): Promise<JobCalls[Verb][1]> {
    return this.#present().routers.ask(verb, request, options);
  }

  withdraw(message: WithdrawMessage): void {
    this.#present().routers.withdraw(message);
  }

  async report(request: ReportRequest): Promise<HostReply> {
    const subject = hostSubject(this.#options.hostId, 'report');
    return this.#present().transport.request(subject, request, { timeoutMs: REPORT_TIMEOUT_MS });
  }

  onStop(listener: (message: StopMessage) => void): () => void {
    this.#stopListeners.add(listener);
    return () => this.#stopListeners.delete(listener);
  }

  /** Called when the control plane has news, and whenever the connection stands again. */
  onWake(listener: () => void): () => void {
    this.#wakeListeners.add(listener);
    return () => this.#wakeListeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#open?.connection.close();
    await this.#connecting;
  }

  #present(): OpenLink {
    if (this.#open !== null) return this.#open;
    throw new TransportError('not-connected', 'There is no connection to the broker yet.', { isRetriable: true });
  }

  async #stayConnected(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const connection = await this.#connect();
      if (connection === null) return;
      this.#use(connection);
      const error = await connection.closed();
      this.#open = null;
      if (!this.#closing.signal.aborted)
        this.#options.logger.warn('the connection to the broker was closed', { error });
    }
  }

  async #connect(): Promise<NatsConnection | null> {
    const { hostId, secret, logger } = this.#options;
    try {
      return await this.#options.connect({
        credentials: { kind: 'password', user: hostId, pass: secret },
        inboxPrefix: inboxPrefix(hostId),
        connectWithinMs: FOR_EVER_MS,
        signal: this.#closing.signal,
        onStatus: ({ kind, detail }) => {
          logger.info(`broker: ${kind}`, { detail });
          if (kind === 'reconnect') this.#wake();
        },
      });
    } catch (error) {
      if (!this.#closing.signal.aborted) logger.error('the broker cannot be used', { error });
      return null;
    }
  }

  #use(connection: NatsConnection): void {
    const { hostId, logger } = this.#options;
    const transport = new AgentTransport(connection);
    const routers = new TransportRouterLink(transport, hostId, logger);
    routers.onStop((message) => {
      for (const listener of this.#stopListeners) listener(message);
    });
    // A hint without content, so one that cannot be read is as good as one that can.
    const wake = (): void => {
      this.#wake();
    };
    transport.listen(wakeSubject(hostId), wake, wake);
    this.#open = { connection, transport, routers };
    this.#wake();
  }

  #wake(): void {
    for (const listener of this.#wakeListeners) listener();
  }
}
