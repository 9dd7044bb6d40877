export { AccountEntity } from './account.entity.js';
export { ApiKeyEntity } from './api-key.entity.js';
export { EndpointScalingEntity, type WaitingWorker } from './endpoint-scaling.entity.js';
export { EndpointEntity } from './endpoint.entity.js';
export { HostEntity } from './host.entity.js';
export { JoinTokenEntity } from './join-token.entity.js';
export { ReleaseEntity } from './release.entity.js';
export { WorkerEntity } from './worker.entity.js';
