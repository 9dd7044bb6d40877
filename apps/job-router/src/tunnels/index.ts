export { composeTunnels, type TunnelSettings } from './compose-tunnels.js';
