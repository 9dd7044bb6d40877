export { HostTunnels } from './host-tunnels.js';
