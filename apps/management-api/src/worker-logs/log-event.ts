import type { LogLine, WorkerId } from '@berth/domain';

/** What a reader of logs is told. */
export type LogEvent =
  | { readonly kind: 'line'; readonly workerId: WorkerId; readonly line: LogLine }
  /** Lines up to this one were looked at; those that were not told are not for this reader. */
  | { readonly kind: 'read'; readonly workerId: WorkerId; readonly sequence: number }
  /** What the control plane itself says; it is kept nowhere. */
  | { readonly kind: 'note'; readonly workerId: WorkerId | null; readonly text: string }
  /** Nothing more will come of anybody. */
  | { readonly kind: 'over' };

/** Which lines a reader wants, and from where on. */
export interface LogWish {
  readonly source?: LogLine['source'];
  readonly jobId?: string;
  readonly tail?: number;
  readonly sinceMs?: number;
}

/** A worker whose log is followed. */
export interface FollowedWorker {
  readonly workerId: WorkerId;
  /** Null: it begins where the wish says. */
  after: number | null;
  /** It has not left, by what the control plane knows: its host may not have heard of it yet. */
  isPresent: boolean;
  isEnded: boolean;
}
