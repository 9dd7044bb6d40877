export { AgentLink, type AgentLinkOptions } from './agent-link.js';
export { HostSession } from './host-session.js';
export { HostJoining } from './joining/host-joining.js';
export { type HostIdentity } from './joining/identity.store.js';
export { type ConnectAs } from './joining/join-host.js';
export { type TokenPlace } from './joining/own-token.js';
