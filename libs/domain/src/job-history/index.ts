export {
  TOLD_TEXT_MAX,
  describeJob,
  summarizeJob,
  type JobDetail,
  type JobSummary,
  type ToldAttempt,
} from './job-summary.js';
export { mergeSlices, type MergedPage, type Slice } from './merge-slices.js';
export { formatPageCursor, isOlder, newestFirst, parsePageCursor, type PageKey } from './page-key.js';
export {
  concernsHistory,
  projectEvents,
  type HistoryChanges,
  type HistoryEvent,
  type HistoryRow,
  type RemovedJob,
} from './project-events.js';
