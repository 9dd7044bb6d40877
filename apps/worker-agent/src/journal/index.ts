export { JournalFullError } from './journal-error.js';
export { INLINE_BODY_MAX_BYTES, Journal, type JournalEntry } from './journal.js';
export { type WorkerRecords } from './worker-records.port.js';
