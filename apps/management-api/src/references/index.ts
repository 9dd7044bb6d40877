export { EndpointReferences } from './endpoint-references.js';
export { ReferencesStore } from './references.store.js';
export { refuseConflicts } from './refuse-conflicts.js';
export { describeUsers, type ResourceUser, USERS_MAX } from './resource-users.js';
