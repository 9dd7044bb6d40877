export { openAgentGateways, startHostCutOff } from './agent-connections.js';
