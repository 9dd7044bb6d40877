import type { HttpApp } from '@berth/http';
import { connectAgentGateway, watchConnection, type AgentServerOptions } from '@berth/messaging';
import { Dispatchers } from './agent-gateway/dispatcher/dispatchers.service.js';

/** Members of one queue group: each agent's question is answered by one router. */
const QUEUE_GROUP = 'job-router';

/**
 * Answers agents over their own connection. The right to answer goes with it, so no job is taken any more for whoever
 * asked over one that was lost.
 */
export async function serveAgents({ nest }: HttpApp, options: Omit<AgentServerOptions, 'queue'>): Promise<void> {
  connectAgentGateway(nest, { ...options, queue: QUEUE_GROUP });
  const dispatchers = nest.get(Dispatchers, { strict: false });
  watchConnection(options.connection, { onLost: () => dispatchers.withdrawAll() });
  await nest.startAllMicroservices();
}
