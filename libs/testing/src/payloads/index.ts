export { ModelPayloads } from './model-payloads.js';
export { ModelReaderCursors } from './model-reader-cursors.js';
