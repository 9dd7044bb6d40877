export { composeJobStream } from './compose-job-stream.js';
export { encodeEvent, EVENT_STREAM_HEADERS, PING } from './event-stream.js';
export { JobStreamController } from './job-stream.controller.js';
export { JobStream, type StreamBatch } from './job-stream.js';
export { StreamedAnswer, StreamedAnswers } from './streamed-answers.js';
