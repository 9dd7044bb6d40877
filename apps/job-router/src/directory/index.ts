export { ControlPulse } from './control-pulse.js';
export { EndpointDirectory, type Staffing, type WorkerCounts } from './endpoint-directory.js';
export { NatsSnapshots } from './nats-snapshots.js';
export { type DeletedEndpoints, type Snapshots } from './snapshots.port.js';
