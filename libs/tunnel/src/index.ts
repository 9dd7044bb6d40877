export { type Invitation } from './invitations.js';
export { TunnelDialer, type TunnelOffer } from './tunnel-dialer.js';
export { TunnelError } from './tunnel-error.js';
export { TunnelListener } from './tunnel-listener.js';
export {
  LINK_REFUSALS,
  type LinkAnswer,
  type LinkRefusal,
  type LinkTarget,
  type WorkerLink,
} from './worker-link.port.js';
