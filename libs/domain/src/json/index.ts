export { encodeJson, toRawJson, type RawJson } from './raw-json.js';
export { sliceItems, sliceMembers } from './slice-members.js';
