export { encodeJson, toRawJson, type RawJson } from './raw-json.js';
export { sliceMembers } from './slice-members.js';
