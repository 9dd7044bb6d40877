export { encodeJson, toRawJson, type RawJson } from './raw-json.js';
export { JSON_DEPTH_MAX, scanJson, type JsonScan } from './scan-json.js';
export { sliceItems, sliceMembers } from './slice-members.js';
