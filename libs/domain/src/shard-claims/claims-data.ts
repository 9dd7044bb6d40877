/** A router's process that lives, whether it owns anything or not. */
export interface RouterPresence {
  readonly routerId: string;
  /** Another one after each start. */
  readonly incarnation: string;
  /** The newest format of logs that it reads. */
  readonly reads: number;
}

/** Who owns a shard. */
export interface ShardClaim {
  /** Null: its last owner has handed it over. */
  readonly owner: RouterPresence | null;
  /** Rises with every change of the owner. */
  readonly term: number;
}

/** What lies under a key of the bucket, and its version; a renewal writes the same once more. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly revision: number;
}

export interface ClaimSurvey {
  /** By shard; one that nobody has ever had, or whose entry cannot be read, is missing. */
  readonly claims: ReadonlyMap<number, Versioned<ShardClaim>>;
  /** By incarnation. */
  readonly routers: ReadonlyMap<string, Versioned<RouterPresence>>;
}

export type ClaimOutcome =
  | { readonly kind: 'written'; readonly revision: number }
  | { readonly kind: 'conflict' }
  /** No answer: written or not, now or later. */
  | { readonly kind: 'unknown' };
