export type { Invitation } from './invitations.js';
export { TunnelDialer } from './tunnel-dialer.js';
export { TunnelListener } from './tunnel-listener.js';
export type { LinkAnswer, LinkRefusal, LinkTarget, LinkWish, WorkerLink } from './worker-link.port.js';
