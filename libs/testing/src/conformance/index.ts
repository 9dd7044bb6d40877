export { blobsConformance } from './blobs.conformance.js';
export { chunksConformance } from './chunks.conformance.js';
export { LONG_LIFE_MS, SHORT_LIFE_MS, type Conforming, type Open } from './conformance.js';
export { jobRecordsConformance } from './job-records.conformance.js';
export { leasesConformance } from './leases.conformance.js';
export { freshKey, runningJob, sampleJob } from './sample-job.js';
export { ticketsConformance } from './tickets.conformance.js';
