export { blobsConformance } from './blobs.conformance.js';
export { chunksConformance } from './chunks.conformance.js';
export { LONG_LIFE_MS, SHORT_LIFE_MS, type Conforming, type Open } from './conformance.js';
export { logBrokerConformance, type ConformingLog } from './log-broker.conformance.js';
export { readerCursorsConformance } from './reader-cursors.conformance.js';
export { freshKey } from './fresh-key.js';
export { shardClaimsConformance } from './shard-claims.conformance.js';
