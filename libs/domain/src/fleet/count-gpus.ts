import { isHostLost, type Host } from '../host/index.js';
import type { Worker } from '../worker/index.js';
import type { Fleet } from './fleet.js';

/** `busy`: a worker has it; `paused`: a frozen worker has it; `idle`: nobody has; `lost`: its host is silent. */
type GpuUse = 'busy' | 'idle' | 'paused' | 'lost';

export interface GpuCount {
  readonly gpuTypeId: string;
  readonly use: GpuUse;
  readonly count: number;
}

/** Types that are counted one by one: hosts may name what no catalog has. */
const TYPES_MAX = 100;

/** All types behind those, together: no type begins with an underscore. */
const OTHER_TYPES = '_other';

interface Listened {
  /** Since when heartbeats come in without a break. */
  readonly observingSinceMs: number;
  readonly nowMs: number;
}

/** Every GPU of every host that has joined, once. A type without any is left out; of another all four uses are told. */
export function countGpus({ hosts, workers }: Pick<Fleet, 'hosts' | 'workers'>, at: Listened): readonly GpuCount[] {
  const workersOf = Map.groupBy(workers, ({ hostId }) => hostId);
  const counts = new Map<string, Record<GpuUse, number>>();
  const types = countedTypes([...hosts.values()]);
  for (const host of hosts.values()) {
    const isLost = isHostLost(host, at.observingSinceMs, at.nowMs);
    for (const [typeId, total] of gpusOf(host)) {
      const name = types.has(typeId) ? typeId : OTHER_TYPES;
      const sum = counts.get(name) ?? { busy: 0, idle: 0, paused: 0, lost: 0 };
      const holders = (workersOf.get(host.id) ?? []).filter(({ resources }) => resources.gpuTypeId === typeId);
      const uses = isLost ? { busy: 0, idle: 0, paused: 0, lost: total } : usesOf(total, holders);
      for (const use of USES) sum[use] += uses[use];
      counts.set(name, sum);
    }
  }
  return [...counts].flatMap(([gpuTypeId, sum]) => USES.map((use) => ({ gpuTypeId, use, count: sum[use] })));
}

const USES: readonly GpuUse[] = ['busy', 'idle', 'paused', 'lost'];

/** What a host has fewer of than its workers were given, since a card is gone, is counted as busy first. */
function usesOf(total: number, holders: readonly Worker[]): Record<GpuUse, number> {
  const held = (isPaused: boolean): number =>
    holders
      .filter(({ observed }) => (observed?.phase === 'paused') === isPaused)
      .reduce((sum, { resources }) => sum + resources.gpuCount, 0);
  const busy = Math.min(total, held(false));
  const paused = Math.min(total - busy, held(true));
  return { busy, paused, idle: total - busy - paused, lost: 0 };
}

function gpusOf({ inventory }: Host): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { typeId } of inventory?.gpus ?? []) counts.set(typeId, (counts.get(typeId) ?? 0) + 1);
  return counts;
}

/** Those of which there are most. */
function countedTypes(hosts: readonly Host[]): ReadonlySet<string> {
  const totals = new Map<string, number>();
  for (const host of hosts) {
    for (const [typeId, count] of gpusOf(host)) totals.set(typeId, (totals.get(typeId) ?? 0) + count);
  }
  const most = [...totals].toSorted(([a, some], [b, more]) => more - some || (a < b ? -1 : 1));
  return new Set(most.slice(0, TYPES_MAX).map(([typeId]) => typeId));
}
