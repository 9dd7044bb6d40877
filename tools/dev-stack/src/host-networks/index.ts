export { type HostNetwork } from './host-network.js';
export { HostNetworks } from './host-networks.js';
export { closeNamespaces } from './namespaces.js';
