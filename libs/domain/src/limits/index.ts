export {
  admitQuestion,
  endQuestion,
  startAsking,
  type Asking,
  type AskingFault,
  type AskingLimit,
  type AskingVerdict,
} from './asking.js';
export { callerNetwork } from './caller-network.js';
export { followPassage, startPassage, type LeastRate, type Passage } from './least-rate.js';
export {
  fullBucket,
  returnToken,
  takeToken,
  type Bucket,
  type BucketLimit,
  type BucketVerdict,
} from './token-bucket.js';
export {
  countRequest,
  longestSpent,
  windowStartMs,
  windowState,
  type Window,
  type WindowLimit,
  type WindowState,
} from './windows.js';
