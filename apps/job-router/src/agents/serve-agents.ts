import type { HttpApp } from '@berth/http';
import { connectAgentGateway, watchConnection, type AgentServerOptions, type BrokerGuard } from '@berth/messaging';
import type { MetricRegistry } from '@berth/telemetry';
import { gatewayMetrics } from './metrics.js';

/** Members of one queue group: each agent's question is answered by one router. */
const QUEUE_GROUP = 'job-router';

export interface ServeAgentsOptions extends Pick<AgentServerOptions, 'connection' | 'drainMs' | 'clock' | 'logger'> {
  readonly metrics: MetricRegistry;
  /** The takes for which agents wait here. */
  readonly takes: { withdrawAll(): void };
  /** Says whether the broker keeps hosts apart. */
  readonly guard: Pick<BrokerGuard, 'isOpen' | 'settle'>;
}

/**
 * Answers agents over their own connection. Their waiting ends with it, so no job is taken any more for an agent that
 * asked over a connection that was lost.
 */
export async function serveAgents(
  { nest }: HttpApp,
  { guard, metrics, takes, ...options }: ServeAgentsOptions,
): Promise<void> {
  const { refused } = gatewayMetrics(metrics);
  const onRefused: AgentServerOptions['onRefused'] = (fault) => refused.inc({ fault });
  connectAgentGateway(nest, { ...options, queue: QUEUE_GROUP, isOpen: guard.isOpen, onRefused });
  watchConnection(options.connection, { onLost: () => takes.withdrawAll() });
  await nest.startAllMicroservices();
  await guard.settle();
  await options.connection.flush();
}
