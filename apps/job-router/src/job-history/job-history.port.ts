import type { HistoryGetReply, HistoryGetRequest, HistoryListReply, HistoryListRequest } from '@berth/contracts';

/** What the control plane keeps of jobs that have ended. Only it has a database, so it is asked. */
export abstract class JobHistory {
  /** @throws Error when nobody answers in time, or who answers cannot */
  abstract list(request: HistoryListRequest): Promise<HistoryListReply>;
  /** @throws as `list` */
  abstract get(request: HistoryGetRequest): Promise<HistoryGetReply>;
}
