import { readDemandMessage, type DemandMessage, type WitnessMessage } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { LOG_SHARDS, logShard } from '@berth/messaging';

/** @throws Error for what is no demand */
export function readDemand(text: string): DemandMessage | WitnessMessage {
  const reading = readDemandMessage(text);
  if (reading.kind === 'unreadable') throw new Error(`this is no demand: ${reading.reason}`);
  if (!('witness' in reading.value) && !isOfShards(reading.value)) throw new Error('this is no demand of shards');
  return reading.value;
}

/** Each of its shards is there, and once; whatever it names lies in one of them. */
function isOfShards({ endpoints, shards, unknown }: DemandMessage): boolean {
  const spokenOf = new Set(shards.map(({ shard }) => shard).filter((shard) => shard < LOG_SHARDS));
  const named: readonly EndpointId[] = [...endpoints.map(({ endpointId }) => endpointId), ...unknown];
  return spokenOf.size === shards.length && named.every((endpointId) => spokenOf.has(logShard(endpointId)));
}
