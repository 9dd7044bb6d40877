import type { WorkerId, WorkerOperation } from '@berth/domain';
import { RuntimeError } from '../runtimes/index.js';
import { describeFailure } from './describe-failure.js';
import type { LiveSession } from './live-session.js';
import type { WorkerTools } from './worker-tools.js';

export type PauseStep = Extract<WorkerOperation, { readonly kind: 'hold-polls' | 'pause' | 'resume' }>;

export const isPauseStep = (step: WorkerOperation): step is PauseStep =>
  step.kind === 'hold-polls' || step.kind === 'pause' || step.kind === 'resume';

/** The worker whose steps these are: what of it is kept, and what only this agent knows. */
interface PausedWorker {
  readonly workerId: WorkerId;
  /** On disk: a successor must not give jobs to a container that stands still. */
  readonly saveHeld: (heldAtMs: number | null) => Promise<void>;
  readonly note: (change: Partial<LiveSession>) => void;
}

/** The effects of a pause and of its end. */
export class PauseSteps {
  readonly #tools: WorkerTools;
  readonly #worker: PausedWorker;

  constructor(tools: WorkerTools, worker: PausedWorker) {
    this.#tools = tools;
    this.#worker = worker;
  }

  apply(step: PauseStep): Promise<void> {
    switch (step.kind) {
      case 'hold-polls':
        return this.#hold();
      case 'pause':
        return this.#pause();
      case 'resume':
        return this.#resume();
      default:
        return step satisfies never;
    }
  }

  async #hold(): Promise<void> {
    await this.#worker.saveHeld(this.#tools.clock.nowMs());
    await this.#tools.bridge.holdPolls(this.#worker.workerId);
  }

  /** One that cannot be frozen goes on taking jobs. */
  async #pause(): Promise<void> {
    const { clock, logger, metrics, runtime } = this.#tools;
    const { note, workerId } = this.#worker;
    try {
      if (runtime.freezer === undefined) throw new RuntimeError('freeze-failed', 'This host cannot pause a container.');
      await runtime.freezer.pause(workerId);
      note({ pauseFailure: null });
      metrics.pauses.inc({ outcome: 'paused' });
      logger.info('worker paused', { workerId });
    } catch (error) {
      const { reason } = describeFailure(error);
      logger.warn('worker not paused', { workerId, reason });
      metrics.pauses.inc({ outcome: 'failed' });
      note({ pauseFailure: { atMs: clock.nowMs(), reason } });
      // Some of it may stand still all the same.
      await this.#goOn();
    }
  }

  async #resume(): Promise<void> {
    const { clock, logger, metrics } = this.#tools;
    const { note, workerId } = this.#worker;
    await this.#goOn();
    note({ resumedAtMs: clock.nowMs() });
    metrics.pauses.inc({ outcome: 'resumed' });
    logger.info('worker resumed', { workerId });
  }

  /**
   * What is parked at the bridge was asked before the pause, and whoever asked may have given up since: it is answered
   * without a job before the container goes on.
   */
  async #goOn(): Promise<void> {
    const { bridge, runtime } = this.#tools;
    const { saveHeld, workerId } = this.#worker;
    await bridge.holdPolls(workerId);
    await runtime.freezer?.resume(workerId);
    bridge.openPolls(workerId);
    await saveHeld(null);
  }
}
