export type { Invitation } from './invitations.js';
export { requestAttributes } from './request-attributes.js';
export { TunnelDialer } from './tunnel-dialer.js';
export { TunnelListener } from './tunnel-listener.js';
export type { LinkAnswer, LinkRefusal, LinkStream, LinkTarget, LinkWish, WorkerLink } from './worker-link.port.js';
