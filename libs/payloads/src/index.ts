export { loadPayload, storePayload } from './payloads.js';
export { type Blobs, type Chunk, type Chunks } from './ports/attachments.port.js';
export {
  READER_CURSOR_MS,
  type KeptCursor,
  type ReaderCursors,
  type ReaderKey,
  type StreamCursor,
} from './ports/reader-cursors.port.js';
