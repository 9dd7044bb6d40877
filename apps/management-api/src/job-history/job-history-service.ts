import type { HistoryGetReply, HistoryGetRequest, HistoryListReply, HistoryListRequest } from '@berth/contracts';
import type { JobHistoryStore } from './job-history.store.js';

/** Answers the routers about jobs that have ended. */
export class JobHistoryService {
  readonly #history: JobHistoryStore;

  constructor(history: JobHistoryStore) {
    this.#history = history;
  }

  /** How complete it is, is read first: what comes into the history meanwhile does no harm. */
  async list(request: HistoryListRequest): Promise<HistoryListReply> {
    const completeUntilMs = await this.#history.completeUntilMs(request.endpointId);
    return { completeUntilMs, jobs: await this.#history.list(request) };
  }

  async get({ accountId, endpointId, jobId }: HistoryGetRequest): Promise<HistoryGetReply> {
    const completeUntilMs = await this.#history.completeUntilMs(endpointId);
    return { completeUntilMs, job: await this.#history.find({ accountId, endpointId, jobId }) };
  }
}
