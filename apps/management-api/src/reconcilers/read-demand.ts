import {
  count,
  id,
  listOf,
  objectOf,
  orNull,
  readJson,
  readShape,
  type DemandMessage,
  type DemandShard,
} from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { LOG_SHARDS, logShard } from '@berth/messaging';

/** @throws Error for what is no demand: a router of another version must not be taken for one that has none */
export function readDemand(text: string): DemandMessage {
  const json = readJson(text);
  if (json.kind === 'unreadable') throw new Error(json.reason);
  const message = json.value as Partial<DemandMessage> | null;
  const { endpoints, routerId } = message ?? {};
  const isDemand = typeof routerId === 'string' && Array.isArray(endpoints);
  if (!isDemand || !endpoints.every(isEndpointDemand)) throw new Error('this is no demand');
  const demand = message as DemandMessage;
  if (!isOfShards(demand)) throw new Error('this is no demand of shards');
  return demand;
}

const COUNTS = [
  'queuedNormal',
  'queuedLow',
  'running',
  'runningLow',
  'endedLastMinute',
  'executionMsLastMinute',
] as const;

const isEndpointDemand = (entry: Partial<DemandMessage['endpoints'][number]> | null): boolean =>
  entry !== null &&
  // Whatever is looked at for it is asked of the database by this name.
  id(entry.endpointId, '$') === null &&
  (entry.oldestQueuedAtMs === null || Number.isFinite(entry.oldestQueuedAtMs)) &&
  COUNTS.every((name) => Number.isFinite(entry[name]));

const UNKNOWN_MAX = 100_000;

const shardsShape = listOf(
  objectOf<DemandShard>({
    shard: count,
    term: count,
    part: orNull(objectOf<NonNullable<DemandShard['part']>>({ index: count, count })),
  }),
  LOG_SHARDS,
);

/** Each of its shards is there, and once; whatever it names lies in one of them. */
function isOfShards({ endpoints, shards, unknown }: DemandMessage): boolean {
  const readings = [readShape(shardsShape, shards), readShape(listOf(id, UNKNOWN_MAX), unknown)];
  if (readings.some(({ kind }) => kind === 'unreadable')) return false;
  const spokenOf = new Set(shards.map(({ shard }) => shard).filter((shard) => shard < LOG_SHARDS));
  const named: readonly EndpointId[] = [...endpoints.map(({ endpointId }) => endpointId), ...unknown];
  return spokenOf.size === shards.length && named.every((endpointId) => spokenOf.has(logShard(endpointId)));
}
