import { CLAIM_UNMOVED_MS } from './bounds.js';
import type { RouterPresence } from './claims-data.js';
import { isOwn, type ClaimsState } from './claims-state.js';
import { unmovedMs } from './acknowledgements.js';

/** How the shards are spread over the routers that live, as one of them sees it. */
export interface Spread {
  /** Shards that each living router may have: all of them, shared out and rounded up. */
  readonly share: number;
  readonly own: number;
  /** The first shard that this router looks at, so that routers that start together take different ones. */
  readonly start: number;
  /** Other living routers that have fewer than their share. */
  readonly takers: readonly RouterPresence[];
}

/** @param dead incarnations whose process is proven dead */
export function spreadShards(state: ClaimsState, dead: ReadonlySet<string>, nowMs: number): Spread {
  const others = [...state.routers.values()]
    .filter(({ presence, firstSeenMs }) => {
      const isOther = presence.incarnation !== state.self.incarnation && !dead.has(presence.incarnation);
      return isOther && unmovedMs(state.acknowledgements, firstSeenMs, nowMs) < CLAIM_UNMOVED_MS;
    })
    .map(({ presence }) => presence);
  const share = Math.ceil(state.shards.length / (others.length + 1));
  const counts = countByOwner(state);
  const rank = others.filter(({ incarnation }) => incarnation < state.self.incarnation).length;
  return {
    share,
    own: state.shards.filter(({ claim }) => isOwn(state, claim)).length,
    start: (rank * share) % Math.max(1, state.shards.length),
    takers: others.filter(({ incarnation }) => (counts.get(incarnation) ?? 0) < share),
  };
}

function countByOwner({ shards }: ClaimsState): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { claim } of shards) {
    const incarnation = claim?.owner?.incarnation;
    if (incarnation !== undefined) counts.set(incarnation, (counts.get(incarnation) ?? 0) + 1);
  }
  return counts;
}
