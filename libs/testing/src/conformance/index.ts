export { blobsConformance } from './blobs.conformance.js';
export { chunksConformance } from './chunks.conformance.js';
export { type Conforming } from './conformance.js';
export { logBrokerConformance, type ConformingLog } from './log-broker.conformance.js';
export { readerCursorsConformance } from './reader-cursors.conformance.js';
export { freshKey } from './fresh-key.js';
export { shardClaimsConformance } from './shard-claims.conformance.js';
