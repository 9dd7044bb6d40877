export { WORKER_HEADER, readAffinity, type Affinity } from './affinity.js';
export {
  chooseToWaitFor,
  chooseWorker,
  nextOpeningMs,
  type CandidateWorker,
  type NoWorkerReason,
} from './choose-worker.js';
export { OUR_ERROR_HEADER, faultOfAnswer, forwardAnswer, forwardInformation, isChunked } from './forward-answer.js';
export { forwardRequest, type ForwardedPeer } from './forward-request.js';
export { forwardTrailers } from './forward-trailers.js';
export { FrameBoundaries, SERVICE_RESTART_FRAME } from './frame-boundaries.js';
export { HoldLine, type Held } from './hold-line.js';
export { endpointIdOfHost, isEndpointDomain } from './host-name.js';
export { bytesOfHead, faultOfHead, isHealthCheck, isPreflight } from './request-faults.js';
export { isOurRequestId, soundTraceparent, toldRequestId, traceIdOf } from './request-names.js';
export { Shares } from './shares.js';
export { SlotLine } from './slot-line.js';
export { bodyDueAfter, nextLimit, type DueLimit, type ExchangePhase, type TimeLimits } from './time-limits.js';
export {
  NO_LOAD,
  afterAdmission,
  afterChoice,
  afterEnd,
  afterRefusal,
  afterWaitBegan,
  afterWaitEnded,
  afterWaitWithdrawn,
  type WorkerLoad,
  type WorkerRefusal,
} from './worker-loads.js';
