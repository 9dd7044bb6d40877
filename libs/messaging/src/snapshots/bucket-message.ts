/** Says that a message of a bucket stands for a key that was removed. */
export const OPERATION_HEADER = 'KV-Operation';
export const PURGED = 'PURGE';

/** How long the trace of a removed key stays: longer than any reader is away without starting over. */
export const TOMBSTONE_MS = 3_600_000;
