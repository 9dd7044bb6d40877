import { StorageType, type StreamInfo } from '@nats-io/jetstream';
import type { Broker } from '../broker/broker.js';
import { API_ERROR, isUnanswered } from '../broker/broker-errors.js';
import { isApiError } from './find-stream.js';
import { streamConfigs } from './streams.js';

/** A server that holds a copy of a stream, besides its leader. */
interface StreamPeer {
  readonly name: string;
  readonly isCurrent: boolean;
  readonly isOffline: boolean;
}

/** How a stream is. */
export type StreamState =
  | {
      readonly kind: 'found';
      readonly replicas: number;
      readonly hasLeader: boolean;
      readonly peers: readonly StreamPeer[];
      readonly bytes: number;
      /** Null: no bound of its own. */
      readonly maxBytes: number | null;
    }
  | { readonly kind: 'missing' }
  /** No answer came: it has no leader, or the broker is busy. */
  | { readonly kind: 'unanswered'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface StreamReport {
  readonly name: string;
  readonly isOnDisk: boolean;
  readonly state: StreamState;
}

/** What the broker says of all that is ours in it. Nothing is changed. */
export interface TopologyReport {
  readonly diskBytes: number;
  /** Of the account; null: no bound but the servers' own. */
  readonly diskMaxBytes: number | null;
  readonly streams: readonly StreamReport[];
}

/** Names do not depend on it. */
const ANY_SIZE = { replicas: 1, storageBytes: 0, memoryBytes: 0 } as const;

/**
 * Looks at every stream and bucket that an installation has, each by one question.
 *
 * @throws what the client throws where JetStream itself does not answer
 */
export async function inspectTopology(broker: Broker): Promise<TopologyReport> {
  const { limits, storage } = await broker.manager.getAccountInfo();
  const wanted = [...streamConfigs('jobs', ANY_SIZE), ...streamConfigs('snapshots', ANY_SIZE)];
  return {
    diskBytes: storage,
    diskMaxBytes: boundOf(limits.max_storage),
    streams: await Promise.all(
      wanted.map(async ({ name, storage: kind }) => ({
        ...{ name, isOnDisk: kind !== StorageType.Memory },
        state: await stateOf(broker, name),
      })),
    ),
  };
}

async function stateOf(broker: Broker, name: string): Promise<StreamState> {
  try {
    return found(await broker.manager.streams.info(name));
  } catch (error) {
    if (isApiError(error, API_ERROR.streamNotFound)) return { kind: 'missing' };
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: isUnanswered(error) ? 'unanswered' : 'refused', reason };
  }
}

function found({ cluster, config, state }: StreamInfo): StreamState {
  return {
    kind: 'found',
    replicas: config.num_replicas,
    // A server that stands alone says nothing of leaders, or names itself.
    hasLeader: config.num_replicas === 1 || (cluster?.leader ?? '') !== '',
    peers: (cluster?.replicas ?? []).map(({ current, name, offline }) => ({
      ...{ name, isCurrent: current, isOffline: offline === true },
    })),
    bytes: state.bytes,
    maxBytes: boundOf(config.max_bytes),
  };
}

/** The broker writes -1, or 0, for none. */
const boundOf = (bytes: number): number | null => (bytes > 0 ? bytes : null);
