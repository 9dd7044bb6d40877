export { decideAdmission, effectiveLimit, type AdmissionVerdict, type AdmissionRequest } from './decide-admission.js';
export { JOB_OPERATIONS, RATE_WINDOW_MS, isJobOperation, type JobOperation } from './job-operations.js';
export { SlidingCount } from './sliding-count.js';
