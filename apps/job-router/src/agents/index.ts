export { AgentJobsController } from './agent-jobs.controller.js';
export { composeAgents } from './compose-agents.js';
export { NatsGoneHints } from './nats-gone-hints.js';
export { serveAgents } from './serve-agents.js';
