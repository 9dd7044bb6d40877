export { composeEdge } from './compose-edge.js';
export { type JobNotices } from './job-watches.js';
export {
  type ItemOutcome,
  type JobBrief,
  type FindOptions,
  type JobNews,
  Jobs,
  type JobsAccepted,
  type JobsRequest,
  type JobWatch,
  type RequestName,
  type StreamChunk,
  type Submission,
} from './jobs.port.js';
export { requestName } from './request-name.js';
