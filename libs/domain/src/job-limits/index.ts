export {
  decideAdmission,
  effectiveLimit,
  type AdmissionVerdict,
  type Asked,
  type OperationUse,
  type WorkerAllowance,
} from './decide-admission.js';
export {
  JOB_OPERATIONS,
  RATE_WINDOW_MS,
  isJobOperation,
  type JobOperation,
  type OperationLimit,
} from './job-operations.js';
export { SlidingCount } from './sliding-count.js';
