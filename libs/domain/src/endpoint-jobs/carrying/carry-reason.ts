/** The size and the age of a log, as far as they are known. */
export interface LogSize {
  readonly logBytes: number;
  /** Of its oldest batch, Unix ms; null: it is empty. */
  readonly oldestAtMs: number | null;
  /** Its owner lets go of it for now. */
  readonly isClosing: boolean;
}

/** Until when carrying is left alone, since the last look found the log alive. */
export interface CarryRest {
  readonly untilBytes: number;
  /** Unix ms. */
  readonly untilMs: number;
}

/** Why a log should begin further on. */
export type CarryReason = 'size' | 'age' | 'closing';

/** Logs below this are left as they are. */
const CARRY_MIN_BYTES = 1024 ** 2;
/** Dead things lie in the log no longer than about this. */
const DEAD_KEPT_MS = 3_600_000;
/** A log that is alive is looked at again when it has grown by this much, or for its age after that long. */
const GROWTH = 1.5;
const LOOK_AGAIN_MS = 600_000;

export const NO_CARRY_REST: CarryRest = { untilBytes: 0, untilMs: 0 };

/** Null: the log may stay as it is. */
export function carryReason(
  { isClosing, logBytes, oldestAtMs }: LogSize,
  rest: CarryRest,
  nowMs: number,
): CarryReason | null {
  if (logBytes >= Math.max(CARRY_MIN_BYTES, rest.untilBytes)) return 'size';
  if (oldestAtMs !== null && nowMs - oldestAtMs >= DEAD_KEPT_MS && nowMs >= rest.untilMs) return 'age';
  return isClosing && logBytes >= CARRY_MIN_BYTES && nowMs >= rest.untilMs ? 'closing' : null;
}

/**
 * Whether one step of carrying pays: for its size a log is written anew only where that frees twice as much, so that all
 * steps together write no more than what was written before. Old dead bodies are worth more than their room.
 */
export function isCarryWorth(
  reason: CarryReason,
  { removedBytes, writtenBytes }: { readonly removedBytes: number; readonly writtenBytes: number },
): boolean {
  return removedBytes >= writtenBytes * (reason === 'age' ? 1.1 : 2);
}

/** The last look found that it does not pay, or nothing old enough. */
export const restAfterLook = ({ logBytes }: Pick<LogSize, 'logBytes'>, nowMs: number): CarryRest => ({
  untilBytes: logBytes * GROWTH,
  untilMs: nowMs + LOOK_AGAIN_MS,
});
