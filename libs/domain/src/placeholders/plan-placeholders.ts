import type { AccountId, EndpointId } from '../ids.js';
import type { NodeWants, Shortage } from './shortages.js';

/** A Pod that stands for a worker without a place. */
export interface Placeholder {
  readonly name: string;
  /** As `wantsText` has them. */
  readonly wants: string;
  /** Its node has refused or ended it: it asks for nothing any more, and no autoscaler sees it. */
  readonly isOver: boolean;
}

export interface PlaceholderWish extends Omit<Placeholder, 'isOver'> {
  readonly endpointId: EndpointId;
  readonly request: NodeWants;
}

export interface PlaceholderBounds {
  readonly max: number;
  readonly accountMax: number;
}

/** First what goes, then what comes: their sum stays within the bounds. */
export interface PlaceholderPlan {
  readonly remove: readonly string[];
  readonly create: readonly PlaceholderWish[];
}

/** The same for the same wants, and for no others. */
export const wantsText = ({ diskBytes, gpuCount, gpuTypeIds, memoryBytes, vcpus }: NodeWants): string =>
  JSON.stringify([vcpus, memoryBytes, diskBytes, gpuCount, ...gpuTypeIds]);

/** What there shall be of placeholders, compared with what there is. Names make it safe to be carried out twice. */
export function planPlaceholders(
  shortages: readonly Shortage[],
  existing: readonly Placeholder[],
  bounds: PlaceholderBounds,
): PlaceholderPlan {
  const wishes = handOut(shortages, bounds);
  const wanted = new Map(wishes.map(({ name, wants }) => [name, wants]));
  const present = new Set(existing.map(({ name }) => name));
  return {
    remove: existing.filter(({ isOver, name, wants }) => isOver || wanted.get(name) !== wants).map(({ name }) => name),
    // One that goes frees its name first: the next pass makes it anew.
    create: wishes.filter(({ name }) => !present.has(name)),
  };
}

/** One for each account in turn, so that none waits for the many of another; of an account who waits longest first. */
function handOut(shortages: readonly Shortage[], { accountMax, max }: PlaceholderBounds): readonly PlaceholderWish[] {
  const accounts = [...queues(shortages, accountMax).values()];
  const rounds = Array.from({ length: accountMax }, (_, round) => accounts.flatMap((queue) => queue[round] ?? []));
  return rounds.flat().slice(0, max);
}

function queues(
  shortages: readonly Shortage[],
  accountMax: number,
): ReadonlyMap<AccountId, readonly PlaceholderWish[]> {
  const queued = new Map<AccountId, PlaceholderWish[]>();
  for (const shortage of shortages.toSorted(compareShortages)) {
    const queue = queued.get(shortage.accountId) ?? [];
    queued.set(shortage.accountId, queue);
    const left = Math.min(shortage.count, accountMax - queue.length);
    for (let ordinal = 0; ordinal < left; ordinal += 1) queue.push(wishOf(shortage, ordinal));
  }
  return queued;
}

const wishOf = ({ endpointId, wants }: Shortage, ordinal: number): PlaceholderWish => ({
  name: `placeholder-${endpointId}-${ordinal}`,
  wants: wantsText(wants),
  endpointId,
  request: wants,
});

const compareShortages = (a: Shortage, b: Shortage): number =>
  a.sinceMs - b.sinceMs || (a.endpointId < b.endpointId ? -1 : Number(a.endpointId > b.endpointId));
