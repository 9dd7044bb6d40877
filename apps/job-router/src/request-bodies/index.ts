export { type JobRequest } from './job-request.js';
export { REQUEST_BODY_THREAD } from './large-bodies.js';
export { isOpenAiUrl, type OpenAiRequest } from './openai-request.js';
export { RequestBodies } from './request-bodies.js';
export { openExtras, sealExtras } from './sealed-extras.js';
