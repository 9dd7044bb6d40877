import type { ClaimsState, ClaimWrite, ClaimWriteKind } from '../../src/shard-claims/index.js';
import type { Chance } from './chance.js';
import type { NaiveBucket } from './naive-bucket.js';

export type Fault =
  /** Nobody can write or read. */
  | { readonly kind: 'leader-change'; readonly atMs: number; readonly lengthMs: number }
  | { readonly kind: 'freeze'; readonly atMs: number; readonly lengthMs: number; readonly router: number }
  | { readonly kind: 'death'; readonly atMs: number; readonly router: number; readonly isProven: boolean }
  | { readonly kind: 'stop'; readonly atMs: number; readonly router: number }
  | { readonly kind: 'start'; readonly atMs: number }
  | { readonly kind: 'disconnect'; readonly atMs: number; readonly router: number }
  /** Acknowledgements get lost, everything may be slow, and requests may arrive when nobody waits for them any more. */
  | { readonly kind: 'rough'; readonly atMs: number; readonly lengthMs: number };

export interface WorldOptions {
  readonly seed: number;
  readonly routers: number;
  readonly shards: number;
  /** What routers read, in turns; without it, everything. */
  readonly reads?: readonly number[];
  /** Of the shards' logs, in turns. */
  readonly formats?: readonly number[];
  readonly faults: readonly Fault[];
  readonly doctor?: Doctor;
}

/** A fault that is put in on purpose. */
export interface Doctor {
  readonly state?: (state: ClaimsState, nowMs: number) => void;
  readonly write?: (write: ClaimWrite, kind: ClaimWriteKind) => ClaimWrite;
  /** The revision that the bucket compares with, instead of what the write names. */
  readonly replaces?: (write: ClaimWrite, at: { readonly kind: ClaimWriteKind; readonly actual: number }) => number;
  readonly answered?: (write: ClaimWrite, nowMs: number) => ClaimWrite;
}

/** What a simulated router finds around it. */
export interface Surroundings {
  readonly options: WorldOptions;
  readonly chance: Chance;
  readonly bucket: NaiveBucket;
  readonly nowMs: number;
  readonly dead: ReadonlySet<string>;
  formatOf(shard: number): number;
  at(atMs: number, run: () => void): void;
  exchange<Answer>(perform: () => Answer, answered: (answer: Answer | null) => void): void;
}
