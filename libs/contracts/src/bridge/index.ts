export { textOf } from './lenient-json.js';
export { failedResult, readOversized, readPostedBytes, readPostedResult, type PostedResult } from './posted-result.js';
export { splitChunk, splitChunkBytes } from './split-chunk.js';
