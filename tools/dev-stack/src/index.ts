export { type DevFile, type ProcessName } from './dev-file.js';
export { StartedStack } from './started-stack.js';
export { TenantClient, type Answer } from './tenant-client.js';
