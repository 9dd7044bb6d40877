export { composeResync } from './compose-resync.js';
export { composeSnapshots } from './compose-snapshots.js';
export { ControlSnapshots } from './control-snapshots.js';
export { webhookSecretId } from './webhook-secret-truth.js';
