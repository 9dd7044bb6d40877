export { TunnelError } from './tunnel-error.js';
export { LINK_REFUSALS, type LinkAnswer, type LinkRefusal, type LinkTarget, type WorkerLink } from './worker-link.port.js';
