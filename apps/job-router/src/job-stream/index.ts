export { composeJobStream } from './compose-job-stream.js';
export { JobStreamController } from './job-stream.controller.js';
export { JobStream, type StreamBatch } from './job-stream.js';
