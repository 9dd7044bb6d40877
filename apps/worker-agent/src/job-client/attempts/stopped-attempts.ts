import { logged, type HostAttempt, type StopReason } from './attempt.js';
import { isLongGone, repeatEnd, type ReportTools } from '../reports/repeat-report.js';

/** The lines that a worker wrote last, or will be found to have written. */
export type LogLines = readonly string[] | Promise<readonly string[]>;

interface Stopped {
  readonly attempt: HostAttempt;
  readonly reason: StopReason;
  isReporting: boolean;
}

/**
 * The attempts that their workers were told to stop, until each has been let go and a router has heard when. They are
 * in the journal like results: a successor of this agent goes on telling, and goes on waiting.
 */
export class StoppedAttempts {
  readonly #tools: ReportTools;
  readonly #held = new Map<string, Stopped>();

  constructor(tools: ReportTools) {
    this.#tools = tools;
  }

  /** True while a router has not heard yet of one that was let go. */
  get isReporting(): boolean {
    return [...this.#held.values()].some(({ isReporting }) => isReporting);
  }

  /** Its worker may have the attempt for longer than the router has. */
  hold(attempt: HostAttempt, reason: StopReason): void {
    if (this.#held.has(attempt.id)) return;
    const stopped = { attempt, reason, isReporting: false };
    this.#held.set(attempt.id, stopped);
    this.#write(stopped);
  }

  /**
   * Takes up what the journal holds, sends on what had been let go, and returns the attempts that had not.
   *
   * @param present the same attempt where its end has not reached a router yet
   */
  restore(present: (id: string) => HostAttempt | undefined): readonly HostAttempt[] {
    const waiting: HostAttempt[] = [];
    for (const { attempt: stored, reason } of this.#tools.records.loadStopped()) {
      const attempt = present(stored.id) ?? asOver(stored);
      attempt.letGo = stored.letGo;
      const stopped = { attempt, reason, isReporting: false };
      this.#held.set(attempt.id, stopped);
      // It is open where its end was not written any more: its time or its renewal will end it again.
      if (attempt.state === 'open') this.drop(attempt);
      else if (attempt.letGo === null) {
        attempt.stop = reason;
        waiting.push(attempt);
      }
      this.noteOver(attempt);
    }
    return waiting;
  }

  /** The worker has it no longer. Nothing to do where it was not told to stop. */
  async letGo(id: string, lines: LogLines): Promise<void> {
    const stopped = this.#held.get(id);
    if (stopped === undefined) return;
    const atMs = this.#tools.clock.monotonicMs();
    const logTail = await lines;
    // Meanwhile it may have been told by another, or be no longer worth telling.
    if (stopped.attempt.letGo !== null || this.#held.get(id) !== stopped) return;
    stopped.attempt.letGo = { atMs, logTail };
    this.#write(stopped);
    this.noteOver(stopped.attempt);
  }

  /** The router knows how the attempt ended; before that it would not hear when its worker let go. */
  noteOver(attempt: HostAttempt): void {
    const stopped = this.#held.get(attempt.id);
    if (stopped === undefined || stopped.isReporting) return;
    if (attempt.state !== 'over' || attempt.letGo === null) return;
    stopped.isReporting = true;
    void this.#report(stopped);
  }

  /** Its worker had ended it before the stop came. */
  drop(attempt: HostAttempt): void {
    if (this.#held.delete(attempt.id)) this.#serially(attempt, () => this.#tools.records.removeStopped(attempt));
  }

  async #report({ attempt, reason }: Stopped): Promise<void> {
    const { clock, log, signal } = this.#tools;
    const end = () => {
      const { atMs, logTail } = attempt.letGo ?? { atMs: 0, logTail: [] };
      const agoMs = Math.max(0, Math.round(clock.monotonicMs() - atMs));
      const { chunks, ref, traceparent } = attempt;
      return { ...ref, result: { kind: 'stopped', agoMs, logTail } as const, chunks, traceparent };
    };
    try {
      // A job that expired has left nothing behind in which it could be written.
      if (reason !== 'expired') await repeatEnd(this.#tools, attempt, { end });
    } catch (error) {
      if (signal.aborted && !isLongGone(attempt, clock.monotonicMs())) return;
      log.warn('No router could be told that a stopped attempt was let go.', { ...logged(attempt), error });
    }
    this.drop(attempt);
  }

  #write({ attempt, reason }: Stopped): void {
    this.#serially(attempt, () => this.#tools.records.putStopped(attempt, reason));
  }

  /** An attempt that cannot be written is known to this life of the agent all the same. */
  #serially(attempt: HostAttempt, write: () => Promise<void>): void {
    attempt.serially(write).catch((error: unknown) => {
      this.#tools.log.warn('A stopped attempt could not be noted in the journal.', { ...logged(attempt), error });
    });
  }
}

function asOver(attempt: HostAttempt): HostAttempt {
  attempt.state = 'over';
  return attempt;
}
