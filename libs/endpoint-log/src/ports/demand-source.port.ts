import type { OwnedDemand } from '@berth/domain';

/**
 * A router's knowledge of the demand in its shards. It speaks of a shard only while it is certain that nobody else owns
 * it, and once it has read which endpoints there are. The demand that it tells is committed, but for the pace of the
 * last minute.
 */
export interface DemandSource {
  /** The shards that it can speak of now. */
  ownedShards(): readonly Pick<OwnedDemand, 'shard' | 'term'>[];
  /**
   * The demand that has changed in them since it was last told, at most `max` endpoints together; the rest is told next
   * time.
   */
  takeChanged(max: number): readonly OwnedDemand[];
  /** All demand of one shard, endpoint by endpoint; it is told by that. Null: it cannot speak of it now. */
  takeAll(shard: number): OwnedDemand | null;
}
