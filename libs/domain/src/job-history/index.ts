export { type HistoryRow, type RowPlace } from './history-row.js';
export { isHistoryFact, projectFacts, rowsBefore, type EndpointFacts, type HistoryFact } from './project-facts.js';
export { NOTHING_UNREAD, UNREAD_KEPT_MS, purgeableThrough, type PurgeableDecision } from './purgeable-through.js';
