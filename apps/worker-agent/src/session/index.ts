export { AgentLink, type AgentLinkOptions } from './agent-link.js';
export { HostSession } from './host-session.js';
export { type HostIdentity, IdentityStore } from './identity.store.js';
export { type ConnectAs, identifyHost, joinHost } from './join-host.js';
