import type { Demand, DemandWitness, EndpointId, StrictDemand, ToldDemand, WitnessedDemand } from '@berth/domain';
import {
  amount,
  count,
  id,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readShape,
  text,
  type Reading,
} from '@berth/domain/shape';
import { readJson } from '../wire/read-json.js';

/**
 * Router → controllers, core NATS, every two seconds whole and at once for what changed: what the owner of these shards knows
 * of the endpoints in them, and of no others.
 */
export interface DemandMessage {
  readonly routerId: string;
  readonly sentAtMs: number;
  /** See `ToldDemand`. Absent: its writer does not count them. */
  readonly sequence?: number;
  readonly shards: readonly DemandShard[];
  readonly endpoints: readonly EndpointDemand[];
  /** Endpoints of those shards that may have any demand, or none. */
  readonly unknown: readonly EndpointId[];
}

/**
 * A witness of load-balanced endpoints → controllers, as often as owners tell: what it sees of them, to be summed with what
 * others see. Controllers that know owners alone refuse it, for it names endpoints and no shards.
 */
export interface WitnessMessage extends Omit<DemandMessage, 'routerId' | 'shards'> {
  readonly witness: DemandWitness & Pick<WitnessedDemand, 'term' | 'part'>;
}

type EndpointDemand = Demand & { readonly endpointId: EndpointId };

/** Of one shard, for what it is complete; see `ToldDemand`. */
export type DemandShard = Pick<ToldDemand, 'shard' | 'term' | 'part'>;

/** Workers that one message may name of an endpoint; writers name fewer. */
const STRICT_MAX = 1_000;
/** More than the endpoints and shards of any installation. */
const ENTRIES_MAX = 100_000;
const figure = amount();

const part = orNull(objectOf<NonNullable<DemandShard['part']>>({ index: count, count }));

const tellings = {
  sentAtMs: figure,
  sequence: optional(count),
  endpoints: listOf(
    objectOf<EndpointDemand>({
      endpointId: id,
      queuedNormal: figure,
      queuedLow: figure,
      running: figure,
      runningLow: figure,
      oldestQueuedAtMs: orNull(figure),
      endedLastMinute: figure,
      executionMsLastMinute: figure,
      strict: optional(listOf(objectOf<StrictDemand>({ workerId: id, queued: figure }), STRICT_MAX)),
    }),
    ENTRIES_MAX,
  ),
  unknown: listOf(id, ENTRIES_MAX),
};

const demandShape = objectOf<DemandMessage>({
  routerId: text(),
  shards: listOf(objectOf<DemandShard>({ shard: count, term: count, part }), ENTRIES_MAX),
  ...tellings,
});

const witnessShape = objectOf<WitnessMessage>({
  witness: objectOf<WitnessMessage['witness']>({ kind: oneOf(['router', 'host']), id, term: count, part }),
  ...tellings,
});

/** A router of another version must not be taken for one without demand: what is no demand is unreadable as a whole. */
export function readDemandMessage(body: string): Reading<DemandMessage | WitnessMessage> {
  const json = readJson(body);
  if (json.kind === 'unreadable') return json;
  const isWitness = typeof json.value === 'object' && json.value !== null && 'witness' in json.value;
  return readShape(isWitness ? witnessShape : demandShape, json.value);
}

/** A message of the owner of these shards. */
export function ownersDemand(
  sending: Pick<DemandMessage, 'routerId' | 'sentAtMs' | 'sequence'>,
  told: readonly ToldDemand[],
): DemandMessage {
  const entries = told.flatMap(({ demands }) => [...demands]);
  return {
    ...sending,
    shards: told.map(({ part, shard, term }) => ({ shard, term, part })),
    endpoints: entries.flatMap(([endpointId, demand]) => (demand === null ? [] : [{ endpointId, ...demand }])),
    unknown: entries.flatMap(([endpointId, demand]) => (demand === null ? [endpointId] : [])),
  };
}

/** The demand of each shard that it tells. */
export function toldDemands(
  { endpoints, sequence, shards, unknown }: DemandMessage,
  shardOf: (endpointId: EndpointId) => number,
): readonly ToldDemand[] {
  const demands = new Map(shards.map(({ shard }) => [shard, new Map<EndpointId, Demand | null>()]));
  for (const { endpointId, ...demand } of endpoints) demands.get(shardOf(endpointId))?.set(endpointId, demand);
  for (const endpointId of unknown) demands.get(shardOf(endpointId))?.set(endpointId, null);
  return shards.map((each) => ({ ...each, ...counted(sequence), demands: demands.get(each.shard) ?? new Map() }));
}

/** The demand that it tells, which is of any shards. */
export function witnessedDemand({ endpoints, sequence, unknown, witness }: WitnessMessage): WitnessedDemand {
  const { term, part, ...who } = witness;
  const known = endpoints.map(({ endpointId, ...demand }) => [endpointId, demand] as const);
  const demands = new Map<EndpointId, Demand | null>([...known, ...unknown.map((each) => [each, null] as const)]);
  return { witness: who, term, part, ...counted(sequence), demands };
}

const counted = (sequence: number | undefined): Pick<DemandMessage, 'sequence'> =>
  sequence === undefined ? {} : { sequence };

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
