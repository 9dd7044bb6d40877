import type { HttpApp } from '@berth/http';
import {
  AgentConnections,
  BrokerGuard,
  connectAgentGateway,
  openConnection,
  watchCertificates,
} from '@berth/messaging';
import type { OpenProcess } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import type { ManagementConfig } from '../config.js';
import { credentialsOf } from '../broker/index.js';
import { AgentAdmission } from './agent-admission.js';
import { HostCutOff } from './host-cut-off.js';
import type { NodeAdmission } from '../node-tokens/index.js';
import { hostSessionsMetrics, type HostSessionsStore } from '../host-sessions/index.js';

export interface AgentParts extends OpenProcess {
  readonly config: ManagementConfig;
  readonly store: HostSessionsStore;
}

/** Members of one queue group: each question is answered by one process. */
const QUEUE_GROUP = 'management-api';
const DRAIN_MS = 2_000;

/**
 * The loop that ends the connections of removed hosts, started; null where this process may not: then their messages are
 * refused until the broker ends their admission.
 */
export async function startHostCutOff(parts: AgentParts): Promise<HostCutOff | null> {
  const { clock, config, logger, onStop, store } = parts;
  if (config.systemSeed === null) {
    logger.warn(
      'removed hosts keep their connections for up to an hour: there is no BERTH_SYSTEM_SEED to end them with',
    );
    return null;
  }
  const as = { name: 'host cut-off', credentials: credentialsOf(config.systemSeed), inboxPrefix: '_INBOX_system' };
  const connection = await openConnection(parts, { ...as, url: config.natsUrl });
  const connections = new AgentConnections(connection, config.agentAccount);
  const metrics = hostSessionsMetrics(parts.metrics);
  const cutOff = new HostCutOff({ connections, store, metrics, clock, logger });
  cutOff.start();
  onStop('host cut-off', () => cutOff.stop());
  return cutOff;
}

interface GatewayConnections {
  readonly app: HttpApp;
  readonly connection: NatsConnection;
  /** As `connectAgents` gives it. */
  readonly agents: NatsConnection;
  readonly nodes: NodeAdmission | null;
}

/**
 * Answers agents, and routers about the job history, each over a user that may write to them alone.
 *
 * @returns what knows whether agents may be believed
 */
export async function openAgentGateways(
  parts: AgentParts,
  { agents, app, connection, nodes }: GatewayConnections,
): Promise<Pick<BrokerGuard, 'isOpen'>> {
  const { clock, config, logger, metrics, onStop, readiness } = parts;
  const { refused } = hostSessionsMetrics(metrics);
  const answering = {
    queue: QUEUE_GROUP,
    drainMs: DRAIN_MS,
    clock,
    logger,
    onRefused: (fault: string) => refused.inc({ fault }),
  };
  // First, because the broker asks about the guard's stranger too.
  await admitAgents(parts, nodes);
  const { natsUrl: url, isBrokerTrusted: isTrusted } = config;
  const credentials = credentialsOf(config.agentsSeed ?? config.natsSeed);
  const guard = new BrokerGuard({ url, credentials, isTrusted, clock, logger });
  onStop('broker guard', () => {
    guard.stop();
  });
  readiness.addDegradation(() => guard.missing);
  watchCertificates(parts, url);
  connectAgentGateway(app.nest, { ...answering, connection, askers: 'routers' });
  connectAgentGateway(app.nest, { ...answering, connection: agents, askers: 'hosts', isOpen: guard.isOpen });
  await app.nest.startAllMicroservices();
  await guard.settle();
  await agents.flush();
  return guard;
}

/** Over what agents are heard and asked; the process's own connection where there is no user for that. */
export async function connectAgents(parts: AgentParts, connection: NatsConnection): Promise<NatsConnection> {
  const { agentsSeed, natsUrl: url } = parts.config;
  if (agentsSeed === null) return connection;
  const as = { name: 'management-api agents', credentials: credentialsOf(agentsSeed), inboxPrefix: '_INBOX_sessions' };
  const agents = await openConnection(parts, { ...as, url });
  parts.readiness.add('nats agents', () => agents.flush());
  return agents;
}

async function admitAgents(parts: AgentParts, nodes: NodeAdmission | null): Promise<void> {
  const { clock, config, logger, metrics, store } = parts;
  if (config.admission === null) return;
  const { calloutSeed, issuerSeeds } = config.admission;
  // An agent that comes while no process admits agents hears nothing for five seconds before it tries again.
  const as = { name: 'agent-admission', credentials: credentialsOf(calloutSeed), isFirst: true };
  const callout = await openConnection(parts, { ...as, url: config.natsUrl });
  const answer = { issuerSeeds, account: config.agentAccount };
  const { notAdmitted } = hostSessionsMetrics(metrics);
  const onRefused = (fault: string): void => notAdmitted.inc({ fault });
  new AgentAdmission({ connection: callout, store, nodes, answer, clock, logger, onRefused }).start();
}
