import {
  historySubject,
  readHistoryJob,
  readHistoryList,
  type HistoryGetReply,
  type HistoryGetRequest,
  type HistoryListReply,
  type HistoryListRequest,
  type HistoryVerb,
} from '@berth/contracts';
import type { Reading } from '@berth/domain/shape';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import { AgentTransport, isRetriable } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';

export interface NatsJobHistoryOptions {
  readonly connection: NatsConnection;
  readonly clock: Clock;
  readonly random: Random;
}

/** For one try; there are two. */
const TIMEOUT_MS = 2_000;
const PATIENCE = { attemptsMax: 2, baseDelayMs: 100, maxDelayMs: 100, isRetriable } as const;

/** The control plane's history of jobs that have ended, by whichever of its processes answers first. */
export class NatsJobHistory {
  readonly #options: NatsJobHistoryOptions;
  readonly #transport: AgentTransport;

  constructor(options: NatsJobHistoryOptions) {
    this.#options = options;
    this.#transport = new AgentTransport(options.connection);
  }

  /** @throws Error when nobody answers in time, or the answer, perhaps of another version, cannot be read */
  async list(request: HistoryListRequest): Promise<HistoryListReply> {
    return valueOf(readHistoryList(await this.#ask('list', request)));
  }

  /** @throws as `list` does */
  async get(request: HistoryGetRequest): Promise<HistoryGetReply> {
    return valueOf(readHistoryJob(await this.#ask('get', request)));
  }

  #ask(verb: HistoryVerb, body: unknown): Promise<unknown> {
    const { clock, random } = this.#options;
    const ask = (): Promise<unknown> => this.#transport.request(historySubject(verb), body, { timeoutMs: TIMEOUT_MS });
    return retry(ask, { ...PATIENCE, clock, random });
  }
}

function valueOf<Value>(reading: Reading<Value>): Value {
  if (reading.kind === 'value') return reading.value;
  throw new Error(`the answer of the job history cannot be read: ${reading.reason}`);
}
