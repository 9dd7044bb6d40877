export { can, canSee, grantRefusal, reachesAllOf, type KeyGrant } from './can.js';
export { SCOPES, SCOPE_PRESETS, expandScopes, isScope, type Scope, type ScopePreset } from './scopes.js';
