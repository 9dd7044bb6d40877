import { MessagePattern, Payload } from '@nestjs/microservices';
import {
  historySubject,
  readHistoryGetRequest,
  readHistoryListRequest,
  type HistoryGetReply,
  type HistoryListReply,
} from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import { AgentGateway } from '@berth/messaging';
import { JobHistoryService } from './job-history-service.js';

/** Routers' questions about jobs that have ended, over NATS. */
@AgentGateway()
export class JobHistoryController {
  readonly #history: JobHistoryService;

  constructor(history: JobHistoryService) {
    this.#history = history;
  }

  @MessagePattern(historySubject('list'))
  list(@Payload() body: unknown): Promise<HistoryListReply> {
    return this.#history.list(requireRead(readHistoryListRequest(body)));
  }

  @MessagePattern(historySubject('get'))
  get(@Payload() body: unknown): Promise<HistoryGetReply> {
    return this.#history.get(requireRead(readHistoryGetRequest(body)));
  }
}
