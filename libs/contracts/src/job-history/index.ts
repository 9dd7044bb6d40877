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
export { readHistoryGetRequest, readHistoryListRequest } from './read-history-question.js';
export { readHistoryJob, readHistoryList } from './read-history-reply.js';
export {
  HISTORY_READ_INTERVAL_MS,
  HISTORY_READ_SUBJECT,
  readHistoryRead,
  type HistoryReadMessage,
  type LogPosition,
  type ShardRead,
} from './history-read.js';
export { readHistoryFacts } from './read-history-facts.js';
