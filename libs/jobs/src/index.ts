export { changeJob, type ChangeOutcome } from './change-job.js';
export { TIMEOUT_GRACE_MS, cancel, timeOut } from './end-job.js';
export { finishAttempt, recordProgress, type AttemptReport, type ReportOutcome } from './finish-job.js';
export { dropLease, dropTicket, putTicket, ticketOf } from './hints.js';
export { type JobStore } from './job-store.js';
export { giveUpAttempt, reapAttempt, type LostAttempt } from './lose-attempt.js';
export { loadPayload, storePayload } from './payloads.js';
export { type Blobs, type Chunk, type Chunks } from './ports/attachments.port.js';
export { type JobRecords, type StoredJob, type WriteOutcome } from './ports/job-records.port.js';
export {
  LEASE_MS,
  LEASE_TRUST_MS,
  RENEW_INTERVAL_MS,
  type Lease,
  type LeaseKey,
  type LeaseState,
  type Leases,
} from './ports/leases.port.js';
export { type StopSignal, type StopSignals } from './ports/stop-signals.port.js';
export { type QueuedTicket, type Ticket, type Tickets } from './ports/tickets.port.js';
export { readJob } from './read-job.js';
export { renewLease, type RenewOutcome, type Renewal } from './renew-lease.js';
export { newJobId, submitJob, type Submission } from './submit-job.js';
export { takeTicket, type TakeOutcome, type Taking } from './take-job.js';
