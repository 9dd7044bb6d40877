import {
  historySubject,
  type HistoryGetReply,
  type HistoryGetRequest,
  type HistoryListReply,
  type HistoryListRequest,
  type HistoryVerb,
} from '@berth/contracts';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import { AgentTransport, isRetriable } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';
import type { JobHistory } from './requests/job-history.port.js';

export interface NatsJobHistoryOptions {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly random: Random;
}

/** For one try; there are two. */
const TIMEOUT_MS = 2_000;
const PATIENCE = { attemptsMax: 2, baseDelayMs: 100, maxDelayMs: 100, isRetriable } as const;

/** Asks whichever process of the control plane answers first. */
export class NatsJobHistory implements JobHistory {
  readonly #options: NatsJobHistoryOptions;
  readonly #transport: AgentTransport;

  constructor(options: NatsJobHistoryOptions) {
    this.#options = options;
    this.#transport = new AgentTransport(options.connection);
  }

  list(request: HistoryListRequest): Promise<HistoryListReply> {
    return this.#ask<HistoryListReply>('list', request);
  }

  get(request: HistoryGetRequest): Promise<HistoryGetReply> {
    return this.#ask<HistoryGetReply>('get', request);
  }

  #ask<Reply>(verb: HistoryVerb, body: unknown): Promise<Reply> {
    const { clock, random } = this.#options;
    const ask = (): Promise<Reply> =>
      this.#transport.request<Reply>(historySubject(verb), body, { timeoutMs: TIMEOUT_MS });
    return retry(ask, { ...PATIENCE, clock, random });
  }
}
