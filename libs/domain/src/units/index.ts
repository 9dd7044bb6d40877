export { GIB, KIB, MIB } from './bytes.js';
export { INSTANT_MAX_MS, PORT_MAX } from './ranges.js';
