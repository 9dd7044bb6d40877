export { FrameError } from './frame-error.js';
export { canBeSaid, encodeHead, encodeOpen, encodeRefuse, FRAME, type OpenTarget } from './frame.js';
export type { MuxEnd, MuxRole } from './mux-role.js';
export { Mux, STREAMS_MAX } from './mux.js';
