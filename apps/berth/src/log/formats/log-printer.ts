import type { JobId } from '@berth/domain';
import type { CheckedEntry, LogFinding, LogSum } from '@berth/endpoint-log';

/** The findings at the end of a log. */
export interface Conclusion {
  readonly findings: readonly LogFinding[];
  /** How many there are in all: `findings` may be the first of them. */
  readonly found: number;
  readonly sum: LogSum;
  /** The last entry, where it is none that can be read: it may be removed. Null: there is none such. */
  readonly removable: number | null;
}

/** What becomes of an entry that somebody wants to be removed. */
export type SkipNotice =
  | { readonly kind: 'stays'; readonly sequence: number; readonly why: string }
  | {
      readonly kind: 'removable';
      readonly sequence: number;
      readonly why: string;
      readonly bytes: number;
      /** What can be made out in it; null: nothing. */
      readonly loss: CheckedEntry | null;
      /** False: nothing is changed. */
      readonly isConfirmed: boolean;
    }
  | { readonly kind: 'removed'; readonly sequence: number };

/** How a log is put into lines; each text ends with a line end, or is empty. */
export interface LogPrinter {
  entry(checked: CheckedEntry): string;
  /** @param isFull false: in a line or two */
  conclusion(conclusion: Conclusion, isFull: boolean): string;
  skip(notice: SkipNotice): string;
}

export interface FormatOptions {
  /** Facts of this job alone, and of rules that touched it; null: all. */
  readonly jobId: JobId | null;
  readonly hasPayloads: boolean;
}
