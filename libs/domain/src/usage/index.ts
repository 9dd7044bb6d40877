export {
  usageRange,
  USAGE_BUCKETS,
  USAGE_SPANS,
  type AskedRange,
  type UsageBucket,
  type UsageRange,
} from './usage-range.js';
export { runChange, useOf, type RunChange } from './run-change.js';
