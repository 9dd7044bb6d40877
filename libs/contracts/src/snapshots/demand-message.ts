import type { Demand, EndpointId, ToldDemand } from '@berth/domain';
import {
  amount,
  count,
  id,
  listOf,
  objectOf,
  orNull,
  readJson,
  readShape,
  text,
  type Reading,
} from '../shape/index.js';

/**
 * Router → controllers, core NATS, every two seconds whole and at once for what changed: what the owner of these shards knows
 * of the endpoints in them, and of no others.
 */
export interface DemandMessage {
  readonly routerId: string;
  readonly sentAtMs: number;
  readonly shards: readonly DemandShard[];
  readonly endpoints: readonly (Demand & { readonly endpointId: EndpointId })[];
  /** Endpoints of those shards that may have any demand, or none. */
  readonly unknown: readonly EndpointId[];
}

/** Of one shard, for what it is complete; see `ToldDemand`. */
export type DemandShard = Pick<ToldDemand, 'shard' | 'term' | 'part'>;

/** More than the endpoints and shards of any installation. */
const ENTRIES_MAX = 100_000;
const figure = amount();

const demandShape = objectOf<DemandMessage>({
  routerId: text(),
  sentAtMs: figure,
  shards: listOf(
    objectOf<DemandShard>({
      shard: count,
      term: count,
      part: orNull(objectOf<NonNullable<DemandShard['part']>>({ index: count, count })),
    }),
    ENTRIES_MAX,
  ),
  endpoints: listOf(
    objectOf<DemandMessage['endpoints'][number]>({
      endpointId: id,
      queuedNormal: figure,
      queuedLow: figure,
      running: figure,
      runningLow: figure,
      oldestQueuedAtMs: orNull(figure),
      endedLastMinute: figure,
      executionMsLastMinute: figure,
    }),
    ENTRIES_MAX,
  ),
  unknown: listOf(id, ENTRIES_MAX),
});

/** A router of another version must not be taken for one without demand: what is no demand is unreadable as a whole. */
export function readDemandMessage(body: string): Reading<DemandMessage> {
  const json = readJson(body);
  return json.kind === 'unreadable' ? json : readShape(demandShape, json.value);
}

/** A message of the owner of these shards. */
export function ownersDemand(
  { routerId, sentAtMs }: Pick<DemandMessage, 'routerId' | 'sentAtMs'>,
  told: readonly ToldDemand[],
): DemandMessage {
  const entries = told.flatMap(({ demands }) => [...demands]);
  return {
    routerId,
    sentAtMs,
    shards: told.map(({ part, shard, term }) => ({ shard, term, part })),
    endpoints: entries.flatMap(([endpointId, demand]) => (demand === null ? [] : [{ endpointId, ...demand }])),
    unknown: entries.flatMap(([endpointId, demand]) => (demand === null ? [endpointId] : [])),
  };
}

/** What it says of each shard. */
export function toldDemands(
  { endpoints, shards, unknown }: DemandMessage,
  shardOf: (endpointId: EndpointId) => number,
): readonly ToldDemand[] {
  const demands = new Map(shards.map(({ shard }) => [shard, new Map<EndpointId, Demand | null>()]));
  for (const { endpointId, ...demand } of endpoints) demands.get(shardOf(endpointId))?.set(endpointId, demand);
  for (const endpointId of unknown) demands.get(shardOf(endpointId))?.set(endpointId, null);
  return shards.map((each) => ({ ...each, demands: demands.get(each.shard) ?? new Map() }));
}

export const demandSubject = (routerId: string): string => `demand.${routerId}`;
export const DEMAND_SUBJECTS = 'demand.*';

/** Demand older than this is unknown, which is not the same as none. */
export const DEMAND_STALE_MS = 10_000;

/**
 * Controllers → routers, an empty message after each look at the fleet: what the buckets say is as the control plane
 * sees it now, also where nothing has changed for long.
 */
export const CONTROL_PULSE_SUBJECT = 'control.pulse';

/** Management API → controllers: this endpoint (or `all`) has changed, look now. */
export const CONTROL_HINT_SUBJECT = 'control.changed';
