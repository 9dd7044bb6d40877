export { admitRequest, type AdmissionRefusal, type AdmissionView } from './admit-request.js';
export {
  HEALTH_INTERVAL_MS,
  afterCheck,
  afterConnectionError,
  afterRest,
  newHealth,
  nextCheckInMs,
  type HealthAnswer,
  type HealthStanding,
  type WorkerHealth,
} from './worker-health.js';
