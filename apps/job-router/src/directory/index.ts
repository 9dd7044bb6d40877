export { ControlPulse } from './control-pulse.js';
export { type AssignedCounts, EndpointDirectory, type AssignedStaff } from './endpoint-directory.js';
export { NatsSnapshots } from './nats-snapshots.js';
export { type DeletedEndpoints, type Snapshots } from './snapshots.port.js';
