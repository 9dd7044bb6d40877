export { changeJob, type ChangeOutcome } from './change-job.js';
export { claimDelivery, settleDelivery, type ClaimOutcome, type ClaimedDelivery } from './deliver-job.js';
export { TIMEOUT_GRACE_MS, cancel, timeOut } from './end-job.js';
export { finishAttempt, recordProgress, type AttemptReport, type ReportOutcome } from './finish-job.js';
export { dropLease, dropTicket, putDelivery, putTicket, ticketOf } from './hints.js';
export { type JobStore } from './job-store.js';
export { giveUpAttempt, reapAttempt, type LostAttempt } from './lose-attempt.js';
export { loadPayload, storePayload } from './payloads.js';
export { type Blobs, type Chunk, type Chunks } from './ports/attachments.port.js';
export { type Deliveries, type StoredDelivery } from './ports/deliveries.port.js';
export { type JobRecords, type StoredJob, type WriteOutcome } from './ports/job-records.port.js';
export {
  LEASE_MS,
  LEASE_TRUST_MS,
  RENEW_EARLIEST_MS,
  RENEW_INTERVAL_MS,
  type Lease,
  type LeaseKey,
  type LeaseState,
  type Leases,
} from './ports/leases.port.js';
export {
  READER_CURSOR_MS,
  type KeptCursor,
  type ReaderCursors,
  type ReaderKey,
  type StreamCursor,
} from './ports/reader-cursors.port.js';
export {
  type Reservation,
  type ReservationKey,
  type Reservations,
  type StoredReservation,
} from './ports/reservations.port.js';
export { type StopSignal, type StopSignals } from './ports/stop-signals.port.js';
export { type QueuedTicket, type Ticket, type Tickets } from './ports/tickets.port.js';
export { purgeAttempt, purgeQueue, type PurgeTarget } from './purge-queue.js';
export { readJob } from './read-job.js';
export { renewLease, type RenewOutcome, type Renewal } from './renew-lease.js';
export {
  RESERVATION_MS,
  acceptReserved,
  mendTicket,
  reserve,
  reservedJobId,
  type ItemOutcome,
  type Reserved,
  type ReservedItem,
} from './reserve.js';
export { recallable, type RecallableRecords } from './recent-records.js';
export { replaceJobLife } from './replace-job-life.js';
export { retry } from './retry.js';
export { settleStopped, type StoppedAttempt } from './settle-stopped.js';
export { newJobId, storeJob, submitJob, type Submission } from './submit-job.js';
export { takeTicket, type TakeOutcome, type Taking } from './take-job.js';
