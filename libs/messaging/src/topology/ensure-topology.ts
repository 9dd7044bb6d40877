import { retry, type Clock, type Random } from '@berth/lifecycle';
import { StartupError } from '@berth/telemetry';
import { JetStreamApiError, StorageType, type StreamConfig, type StreamInfo } from '@nats-io/jetstream';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, isUnanswered, lacksPeers, lacksRoomAtPeers } from '../broker/broker-errors.js';
import { findStream, isApiError } from './find-stream.js';
import { TopologyDriftError, driftOf } from './topology-drift.js';
import type { StreamChange, TopologyChanges } from './topology-changes.js';
import { streamConfigs, type TopologyPart, type TopologySize } from './streams.js';

export interface EnsureTopologyOptions {
  readonly broker: Broker;
  readonly part: TopologyPart;
  readonly size: TopologySize;
  readonly clock: Clock;
  readonly random: Random;
  /** Number of tries while JetStream is not ready; the default waits about half a minute. */
  readonly attemptsMax?: number;
  /** `memory`: only the streams that a broker without companions forgets when it restarts. */
  readonly scope?: 'all' | 'memory';
  /** Told once of all streams that were made or changed, also where the next one failed; not told of none. */
  readonly onChange?: (changes: TopologyChanges) => void;
}

const ATTEMPTS_DEFAULT = 20;
const RETRY_BASE_MS = 200;
const RETRY_MAX_MS = 2_000;

/** Level of nats-server 2.15: the first that syncs a replicated stream once per batch, and keeps `always` cheap. */
const API_LEVEL_MIN = 5;

/**
 * Makes what is missing and changes what may be changed, so that every process can call it at each start, several at
 * once. Streams that are as wanted cost one question each.
 *
 * @throws TopologyDriftError when a stream has a setting that cannot be changed
 * @throws StartupError when the broker has no room for a stream, or brokers enough for it do not come in time
 * @throws the last error when JetStream was not ready in time, or refuses for good (too old)
 */
export async function ensureTopology(options: EnsureTopologyOptions): Promise<void> {
  const { broker } = options;
  const changes: Record<StreamChange, string[]> = { created: [], updated: [] };
  if (options.scope !== 'memory') await onceReady(options, () => checkApiLevel(broker));
  try {
    for (const wanted of streamConfigs(options.part, options.size)) {
      if (options.scope === 'memory' && wanted.storage !== StorageType.Memory) continue;
      const change = await onceReady(options, () => ensureStream(broker, wanted)).catch((error: unknown) => {
        throw refusalOf(wanted, error);
      });
      if (change !== null) changes[change].push(wanted.name);
    }
  } finally {
    if (changes.created.length + changes.updated.length > 0) options.onChange?.(changes);
  }
}

/** Does it again while JetStream is not ready. */
export const onceReady = <T>(
  { attemptsMax = ATTEMPTS_DEFAULT, clock, random }: Pick<EnsureTopologyOptions, 'attemptsMax' | 'clock' | 'random'>,
  action: () => Promise<T>,
): Promise<T> =>
  retry(action, {
    clock,
    random,
    attemptsMax,
    baseDelayMs: RETRY_BASE_MS,
    maxDelayMs: RETRY_MAX_MS,
    isRetriable: isNotReady,
  });

async function checkApiLevel(broker: Broker): Promise<void> {
  const { api } = await broker.manager.getAccountInfo();
  if ((api.level ?? 0) >= API_LEVEL_MIN) return;
  throw new Error(
    `The broker is too old (JetStream API level ${api.level ?? 0}): nats-server 2.15 or newer is needed.`,
  );
}

type Wanted = Partial<StreamConfig> & Pick<StreamConfig, 'name'>;

async function ensureStream(broker: Broker, wanted: Wanted): Promise<StreamChange | null> {
  const present = (await findStream(broker, wanted.name)) ?? (await createStream(broker, wanted));
  if (present === 'created') return 'created';
  const drift = driftOf(present.config, wanted);
  if (drift.fixed.length > 0) throw new TopologyDriftError(wanted.name, drift.fixed);
  if (drift.changeable.length === 0) return null;
  await broker.manager.streams.update(wanted.name, wanted);
  return 'updated';
}

/** Another process may have been faster with other settings; then its stream is what there is. */
async function createStream(broker: Broker, wanted: Wanted): Promise<StreamInfo | 'created'> {
  try {
    await broker.manager.streams.add(wanted);
    return 'created';
  } catch (error) {
    if (isApiError(error, API_ERROR.streamNameInUse)) return broker.manager.streams.info(wanted.name);
    throw error;
  }
}

const UNAVAILABLE = 503;
const STORAGE_RESERVED = 10047;
const MEMORY_RESERVED = 10028;

function refusalOf({ name, num_replicas: replicas = 1 }: Wanted, error: unknown): unknown {
  if (!(error instanceof JetStreamApiError)) return error;
  if (error.code === STORAGE_RESERVED || lacksRoomAtPeers(error.apiError())) return noRoom(name, error);
  return lacksPeers(error.apiError()) ? tooFewBrokers(name, replicas, error) : error;
}

/** Reserved bytes count, however few of them are used: also those of streams that an older version has left behind. */
const noRoom = (stream: string, cause: unknown): StartupError =>
  new StartupError(
    `The broker has no room for stream ${stream}: insufficient storage. Its max_file_store must be at least ` +
      'BERTH_NATS_STORAGE_BYTES and what all other streams reserve; delete those that nobody uses any more.',
    { cause },
  );

const tooFewBrokers = (stream: string, replicas: number, cause: unknown): StartupError =>
  new StartupError(
    `Stream ${stream} is held by ${replicas} brokers (BERTH_NATS_REPLICAS), and the one that leads has not heard from ` +
      'so many since it started. Start the others; look at their routes to each other where they run.',
    { cause },
  );

/** A broker that starts, elects or reconnects. Too little reserved storage is told as 503 too, but does not pass. */
function isNotReady(error: unknown): boolean {
  if (error instanceof JetStreamApiError) {
    if (lacksPeers(error.apiError())) return true;
    return error.status === UNAVAILABLE && error.code !== STORAGE_RESERVED && error.code !== MEMORY_RESERVED;
  }
  return isUnanswered(error) || (error instanceof Error && error.cause !== undefined && isNotReady(error.cause));
}
