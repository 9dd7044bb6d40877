export { admitRequest, type AdmissionView } from './admit-request.js';
export {
  afterCheck,
  afterConnectionError,
  afterRest,
  newHealth,
  nextCheckInMs,
  type HealthAnswer,
  type WorkerHealth,
} from './worker-health.js';
