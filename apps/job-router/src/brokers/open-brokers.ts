import { ROUTER_INBOX } from '@berth/contracts';
import type { UnreadableMessage } from '@berth/domain';
import {
  Broker,
  BrokerGuard,
  LOG_ANSWER_MS,
  TopologyKeeper,
  openConnection,
  topologyLog,
  type NatsCredentials,
  type TopologySize,
} from '@berth/messaging';
import type { Logger, OpenProcess } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';

/** Where the broker is, and who one is to it. */
export interface BrokersConfig {
  readonly routerId: string;
  readonly natsUrl: string;
  readonly natsCredentials: NatsCredentials;
  /** nkey seed of the role `gateway`, over which agents are heard; null: as everything else. */
  readonly agentsSeed: string | null;
  /** Agents are heard also where the broker does not keep hosts apart. */
  readonly isBrokerTrusted: boolean;
  readonly topology: TopologySize;
}

/**
 * The broker, over connections of their own, because one connection is one line: a payload on its way must delay no lease,
 * and a flood of uploads that makes the broker cut a connection must not cut another one.
 */
export interface Brokers {
  /** Over it routers ask each other, and hear the control plane. */
  readonly shared: Broker;
  readonly payloads: Broker;
  /** Facts of jobs, and the claims of shards: what waits on another line must not keep a claim from being renewed. */
  readonly logs: Broker;
  readonly agents: NatsConnection;
  /** The largest message that the broker takes. */
  readonly messageMaxBytes: number;
}

/** Has connected, and has made the streams, when it resolves. */
export async function openBrokers(
  config: BrokersConfig,
  process: OpenProcess,
  onUnreadable: (message: UnreadableMessage) => void,
): Promise<Brokers> {
  const open = (purpose: string): Promise<NatsConnection> => connect(config, process, purpose);
  const [store, payloads, agents] = [await open('store'), await open('payloads'), await open('agents')];
  process.readiness.add('nats', async () => {
    await Promise.all([store.flush(), payloads.flush(), agents.flush()]);
  });
  const ways = { inboxPrefix: ROUTER_INBOX, onUnreadable };
  const shared = await Broker.over({ connection: store, ...ways });
  await keepTopology(config, process, shared);
  return {
    shared,
    payloads: await Broker.over({ connection: payloads, ...ways }),
    logs: await Broker.over({ connection: await open('logs'), ...ways, timeoutMs: LOG_ANSWER_MS }),
    agents,
    messageMaxBytes: messageLimitOf(store, process.logger),
  };
}

const connect = (config: BrokersConfig, process: OpenProcess, purpose: string): Promise<NatsConnection> =>
  openConnection(process, {
    url: config.natsUrl,
    name: `job-router ${config.routerId} ${purpose}`,
    ...(purpose === 'agents' && config.agentsSeed !== null
      ? { credentials: agentsCredentials(config), inboxPrefix: '_INBOX_gateway' }
      : { credentials: config.natsCredentials, inboxPrefix: ROUTER_INBOX }),
  });

/** Over a user of their own, answers can be written to agents and nowhere else, whatever an agent asks for. */
const agentsCredentials = ({ agentsSeed, natsCredentials }: BrokersConfig): NatsCredentials =>
  agentsSeed === null ? natsCredentials : { kind: 'nkey', seed: agentsSeed };

/** Begins to find out whether the broker keeps hosts apart; as a rule that is known when the brokers are open. */
export function guardAgents(config: BrokersConfig, { clock, logger, onStop, readiness }: OpenProcess): BrokerGuard {
  const { isBrokerTrusted: isTrusted, natsUrl: url } = config;
  const guard = new BrokerGuard({ url, credentials: agentsCredentials(config), isTrusted, clock, logger });
  onStop('broker guard', () => {
    guard.stop();
  });
  readiness.addDegradation(() => guard.missing);
  return guard;
}

/** A broker's own default. */
const MESSAGE_MAX_BYTES_DEFAULT = 1024 ** 2;
const MESSAGE_WANTED_BYTES = 2 * MESSAGE_MAX_BYTES_DEFAULT;

/** Records with every part at its limit and every character escaped need more than a broker's default. */
function messageLimitOf({ info }: NatsConnection, logger: Logger): number {
  const maxPayload = info?.max_payload ?? MESSAGE_MAX_BYTES_DEFAULT;
  if (maxPayload < MESSAGE_WANTED_BYTES) {
    logger.warn('the broker takes small messages only: set its max_payload to 2MB', { maxPayload });
  }
  return maxPayload;
}

async function keepTopology(
  { topology: size }: BrokersConfig,
  { clock, logger, onStop, random }: OpenProcess,
  broker: Broker,
): Promise<void> {
  const topology = new TopologyKeeper({
    ...{ broker, part: 'jobs', size, clock, random },
    onChange: topologyLog(logger),
    onError: (error) => {
      logger.warn('the streams could not be looked after; the next try follows', { error });
    },
  });
  await topology.start();
  onStop('topology', () => topology.stop());
}
