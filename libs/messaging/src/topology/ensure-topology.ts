import { retry, type Clock, type Random } from '@berth/lifecycle';
import { JetStreamApiError, StorageType, type StreamConfig, type StreamInfo } from '@nats-io/jetstream';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, isUnanswered } from '../broker/broker-errors.js';
import { TopologyDriftError, driftOf } from './topology-drift.js';
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
  /** Told of each stream that was made or changed. */
  readonly onChange?: (stream: string, change: StreamChange) => void;
}

export type StreamChange = 'created' | 'updated';

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
 * @throws the last error when JetStream was not ready in time, or refuses for good (too old, not enough storage)
 */
export async function ensureTopology(options: EnsureTopologyOptions): Promise<void> {
  const { broker, clock, random } = options;
  const patiently = <T>(action: () => Promise<T>): Promise<T> =>
    retry(action, {
      clock,
      random,
      attemptsMax: options.attemptsMax ?? ATTEMPTS_DEFAULT,
      baseDelayMs: RETRY_BASE_MS,
      maxDelayMs: RETRY_MAX_MS,
      isRetriable: isNotReady,
    });
  if (options.scope !== 'memory') await patiently(() => checkApiLevel(broker));
  for (const wanted of streamConfigs(options.part, options.size)) {
    if (options.scope === 'memory' && wanted.storage !== StorageType.Memory) continue;
    const change = await patiently(() => ensureStream(broker, wanted));
    if (change !== null) options.onChange?.(wanted.name, change);
  }
}

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

async function findStream(broker: Broker, name: string): Promise<StreamInfo | null> {
  try {
    return await broker.manager.streams.info(name);
  } catch (error) {
    if (isApiError(error, API_ERROR.streamNotFound)) return null;
    throw error;
  }
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

const isApiError = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code;

const UNAVAILABLE = 503;
const STORAGE_RESERVED = 10047;
const MEMORY_RESERVED = 10028;

/** A broker that starts, elects or reconnects. Too little reserved storage is told as 503 too, but does not pass. */
function isNotReady(error: unknown): boolean {
  if (error instanceof JetStreamApiError) {
    return error.status === UNAVAILABLE && error.code !== STORAGE_RESERVED && error.code !== MEMORY_RESERVED;
  }
  return isUnanswered(error) || (error instanceof Error && error.cause !== undefined && isNotReady(error.cause));
}
