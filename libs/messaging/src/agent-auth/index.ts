export { AgentConnections, type AgentConnection } from './agent-connections.js';
export { AGENT_ADMISSION_MS, admitAgent, isTrustedIssuer, refuseAgent, type AuthAnswerOptions } from './auth-answer.js';
export { readAuthRequest, type AuthRequest } from './auth-request.js';
export { BrokerGuard } from './broker-guard.js';
