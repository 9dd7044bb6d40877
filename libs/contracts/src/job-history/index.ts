export {
  HISTORY_PAGE_MAX,
  HISTORY_VERBS,
  historySubject,
  type HistoryGetReply,
  type HistoryGetRequest,
  type HistoryListReply,
  type HistoryListRequest,
  type HistoryVerb,
} from './history-messages.js';
export { readHistoryJob, readHistoryList } from './read-history-reply.js';
