export { can, canSee, grantRefusal, reachesAllOf, type AccessNeed, type AccessVerdict, type KeyGrant } from './can.js';
export {
  SCOPES,
  SCOPE_PRESETS,
  expandScopes,
  isScope,
  isScopePreset,
  type ExpandedScopes,
  type Scope,
  type ScopePreset,
} from './scopes.js';
