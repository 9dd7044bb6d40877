export { CurrentHost, CurrentTraceparent } from './agent-decorators.js';
export { AgentGateway, connectAgentGateway } from './agent-gateway.js';
export { AgentServer, type AgentServerOptions } from './agent-server.js';
export { AgentTransport, publishOneWay, type RequestOptions } from './agent-transport.js';
export { ConfirmedReply } from './confirmed-reply.js';
export { TransportError, type TransportFailure } from './transport-error.js';
export { isRetriable, toWireError } from './wire-codec.js';
