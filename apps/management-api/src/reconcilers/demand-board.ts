import { DEMAND_STALE_MS, id, readJson, type DemandMessage } from '@berth/contracts';
import type { Demand, EndpointId } from '@berth/domain';

interface RouterDemand {
  readonly endpoints: ReadonlyMap<EndpointId, Demand>;
  /** On this process's monotonic clock. */
  readonly heardAtMs: number;
  readonly completeAtMs: number;
}

const NO_DEMAND: Demand = {
  queuedNormal: 0,
  queuedLow: 0,
  running: 0,
  runningLow: 0,
  oldestQueuedAtMs: null,
  endedLastMinute: 0,
  executionMsLastMinute: 0,
};

/** Routers that are remembered; beyond it the one heard longest ago is dropped. */
const ROUTERS_MAX = 256;

/**
 * The latest demand that the routers published. Every router sees every job, so one fresh router is enough, and the one
 * heard last counts. A router that has not told everything lately tells nothing.
 */
export class DemandBoard {
  readonly #routers = new Map<string, RouterDemand>();

  take({ endpoints, isComplete, routerId }: DemandMessage, heardAtMs: number): void {
    const before = this.#routers.get(routerId);
    const told = endpoints.map(({ endpointId, ...demand }) => [endpointId, demand] as const);
    // In the order in which they were heard last, so the first is the oldest.
    this.#routers.delete(routerId);
    this.#routers.set(routerId, {
      endpoints: new Map(isComplete ? told : [...(before?.endpoints ?? []), ...told]),
      heardAtMs,
      completeAtMs: isComplete ? heardAtMs : (before?.completeAtMs ?? Number.NEGATIVE_INFINITY),
    });
    this.#forgetSilent(heardAtMs);
  }

  /** Null: unknown, which is not the same as none. */
  demandOf(endpointId: EndpointId, nowMs: number): Demand | null {
    const freshest = this.#freshest(nowMs);
    return freshest === null ? null : (freshest.endpoints.get(endpointId) ?? NO_DEMAND);
  }

  endpointIds(nowMs: number): readonly EndpointId[] {
    return [...(this.#freshest(nowMs)?.endpoints.keys() ?? [])];
  }

  #freshest(nowMs: number): RouterDemand | null {
    return [...this.#routers.values()].findLast(({ completeAtMs }) => nowMs - completeAtMs < DEMAND_STALE_MS) ?? null;
  }

  #forgetSilent(nowMs: number): void {
    for (const [routerId, { heardAtMs }] of this.#routers) {
      const isSilent = nowMs - heardAtMs >= DEMAND_STALE_MS;
      if (isSilent || this.#routers.size > ROUTERS_MAX) this.#routers.delete(routerId);
    }
  }
}

/** @throws Error for what is no demand: a router of another version must not be taken for one that has none */
export function readDemand(text: string): DemandMessage {
  const json = readJson(text);
  if (json.kind === 'unreadable') throw new Error(json.reason);
  const message = json.value as Partial<DemandMessage> | null;
  const { endpoints, isComplete, routerId } = message ?? {};
  const isDemand = typeof routerId === 'string' && typeof isComplete === 'boolean' && Array.isArray(endpoints);
  if (!isDemand || !endpoints.every(isEndpointDemand)) throw new Error('this is no demand');
  return message as DemandMessage;
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
  COUNTS.every((count) => Number.isFinite(entry[count]));
