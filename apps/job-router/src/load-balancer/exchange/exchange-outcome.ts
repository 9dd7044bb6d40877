import type { Duplex } from 'node:stream';
import type { ErrorCode } from '@berth/domain';

/** How it ended. `upgraded`: it is a WebSocket now, and whoever was told so has it. */
export type ExchangeOutcome =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'upgraded' }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly wasCut: boolean }
  | { readonly kind: 'caller-gone' };

export interface UpgradedPlace {
  readonly stream: Duplex;
  /** The head of the answer, for the caller. */
  readonly answerHead: readonly string[];
  /** What the worker has sent behind it. */
  readonly early: Buffer;
}
