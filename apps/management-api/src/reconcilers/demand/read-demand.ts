import { readDemandMessage, type DemandMessage, type WitnessMessage } from '@berth/contracts';
import { HOST_ENDPOINTS_MAX, type EndpointId, type HostId } from '@berth/domain';
import { LOG_SHARDS, logShard } from '@berth/messaging';

/**
 * What a host says of the requests in flight at its own workers, and of nothing in another's name.
 *
 * @throws Error for what is no such demand
 */
export function readHostDemand(text: string, hostId: HostId): WitnessMessage {
  const demand = readAny(text);
  const isOwn = 'witness' in demand && demand.witness.kind === 'host' && demand.witness.id === hostId;
  if (!isOwn) throw new Error('this is no demand of the host that told it');
  if (demand.endpoints.length + demand.unknown.length > HOST_ENDPOINTS_MAX) throw new Error('this is too much demand');
  return demand;
}

/** What a router says. @throws Error for what is no demand */
export function readDemand(text: string): DemandMessage | WitnessMessage {
  const demand = readAny(text);
  if ('witness' in demand && demand.witness.kind !== 'router') throw new Error('this is no demand of a router');
  return demand;
}

/** @throws Error for what is no demand */
function readAny(text: string): DemandMessage | WitnessMessage {
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
