export { connectAgents, openAgentGateways, startHostCutOff } from './agent-connections.js';
