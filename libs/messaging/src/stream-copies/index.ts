export { CLAIMS_STREAM, COPIED_LOGS, COPIED_PAYLOADS, jobStreamConfig } from './copied-streams.js';
export { copyLog } from './copy-log.js';
export { COPIED_STATE, copyStream, type CopiedState } from './copy-stream.js';
export { removeLatePayloads } from './remove-late-payloads.js';
export { restoreStream } from './restore-stream.js';
