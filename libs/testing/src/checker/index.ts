export {
  checkCancel,
  checkKey,
  checkLife,
  checkPurges,
  checkStream,
  checkTold,
  type BrokenOperation,
  type KeyedRequest,
  type PurgedQueue,
  type ShortLivedJob,
  type StreamReading,
  type ToldJob,
} from './check-operations.js';
export { checkCharges, type ChargedJob, type HostFault } from './check-charges.js';
export { excuseReruns, type Standstill } from './excuse-reruns.js';
export { checkHistory, type ClientEntry, type Execution, type StatusRead, type WorkerOutput } from './check-history.js';
