export {
  TOLD_TEXT_MAX,
  describeJob,
  summarizeJob,
  toldAttempt,
  type JobDetail,
  type JobSummary,
  type ToldAttempt,
  type ToldJob,
} from './job-summary.js';
export { type DescribedJob, type ListedJob, type ListedQueue } from './listed-job.js';
