export { type HistoryRow, type RowPlace } from './history-row.js';
export { isHistoryFact, projectFacts, rowsBefore, type EndpointFacts, type HistoryFact } from './project-facts.js';
export {
  NOTHING_UNREAD,
  UNREAD_FILL_MAX,
  UNREAD_KEPT_MS,
  purgeableThrough,
  type PurgeableDecision,
  type UnreadView,
} from './purgeable-through.js';
