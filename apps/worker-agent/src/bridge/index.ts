export {
  BRIDGE_BODY_MAX_BYTES,
  type BodyBounds,
  type Bridge,
  type BridgeEvent,
  type BridgeWorkerState,
  type ReadLogTail,
  type WorkerAdmission,
  type WorkerFacts,
  type WorkerRegistration,
} from './bridge.port.js';
export { lastBridgePort, rememberBridgePort } from './last-bridge-port.js';
export { WorkerBridge } from './worker-bridge.js';
