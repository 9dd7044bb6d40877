import { cleanText, type WorkerId } from '@berth/domain';
import type { Logger } from '@berth/telemetry';

/** Of a cluster's or an engine's words with ours before them. */
const REASON_CHARACTERS_MAX = 600;

/** What keeps the host from going on with one step of a worker, as its runtime told it last. */
export class HeldUp {
  readonly #logger: Logger;
  readonly #onChange: () => void;
  #by: string | null = null;

  constructor(logger: Logger, onChange: () => void) {
    this.#logger = logger;
    this.#onChange = onChange;
  }

  /** For people; null: nothing is known to. */
  get by(): string | null {
    return this.#by;
  }

  /** For the runtime. What it tells after the signal has aborted is of a step that nobody takes any more. */
  hearer(workerId: WorkerId, signal: AbortSignal): (reason: string | null) => void {
    return (reason) => {
      const by = reason === null ? null : cleanText(reason, REASON_CHARACTERS_MAX);
      if (signal.aborted || by === this.#by) return;
      this.#by = by;
      if (by !== null) this.#logger.info('worker held up', { workerId, reason: by });
      this.#onChange();
    };
  }

  /** The step is over, or another begins. */
  clear(): void {
    this.#by = null;
  }
}
