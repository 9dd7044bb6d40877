export { composeHostSessions } from './compose-host-sessions.js';
export { HostSessionsService } from './host-sessions-service.js';
export { HostSessionsController } from './host-sessions.controller.js';
export { HostSessionsStore } from './host-sessions.store.js';
export { ImagesAheadStore } from './images-ahead.store.js';
export { hostOfJoinToken, makeJoinTokens } from './join-token.js';
export { hostSessionsMetrics, type HostSessionsMetrics } from './metrics.js';
export { hashHostSecret, isSameHash } from './secret-hash.js';
