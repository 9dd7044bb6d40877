/** A router's process that lives, whether it owns anything or not. */
export interface RouterPresence {
  readonly routerId: string;
  /** Another one after each start. */
  readonly incarnation: string;
  /** The newest format of logs that it reads. */
  readonly reads: number;
}

/**
 * Whose claim it is where it cannot be read. Its writer may believe in it as long as anybody may, so it stands until it
 * has been silent for as long as any other; and it is no process that could be asked whether it lives.
 */
export const UNKNOWN_ROUTER: RouterPresence = { routerId: 'unknown', incarnation: '', reads: 0 };

/** The claim that names the owner of a shard. */
export interface ShardClaim {
  /** Null: its last owner has handed it over. */
  readonly owner: RouterPresence | null;
  /** Rises with every change of the owner. */
  readonly term: number;
}

/** The value under a key of the bucket, and its version; a renewal writes the same once more. */
export interface Versioned<Value> {
  readonly value: Value;
  readonly revision: number;
}

export interface ClaimSurvey {
  /** By shard; one that nobody has ever had is missing. Where an entry cannot be read it is `UNKNOWN_ROUTER`'s. */
  readonly claims: ReadonlyMap<number, Versioned<ShardClaim>>;
  /** By incarnation. */
  readonly routers: ReadonlyMap<string, Versioned<RouterPresence>>;
}

export type ClaimOutcome =
  | { readonly kind: 'written'; readonly revision: number }
  | { readonly kind: 'conflict' }
  /** No answer: written or not, now or later. */
  | { readonly kind: 'unknown' };
