import { REPORT_INTERVAL_MS, type DesiredWorker } from '@berth/contracts';
import type { Preparation } from '@berth/domain';
import { RuntimeError, type ImageRequest } from '../runtimes/index.js';
import { describeFailure, type Failure } from './describe-failure.js';
import { HeldUp } from './held-up.js';
import { tellProgress } from './tell-progress.js';
import type { WorkerTools } from './worker-tools.js';

/** One worker's image on its way: runs beside the worker's task, which must be able to change its mind meanwhile. */
export class PrepareTask {
  readonly #tools: PrepareTools;
  readonly #onChange: () => void;
  readonly #heldUp: HeldUp;
  #state: Preparation = 'none';
  #failure: Failure | null = null;
  /** As last told by the runtime, and by this. */
  #percent: number | null = null;
  #toldPercent: number | null = null;
  #running = new AbortController();

  /** @param onChange told when it has ended, and of its progress now and then */
  constructor(tools: PrepareTools, onChange: () => void) {
    this.#tools = tools;
    this.#onChange = onChange;
    this.#heldUp = new HeldUp(tools.logger, onChange);
  }

  get state(): Preparation {
    return this.#state;
  }

  /** How much of the image is here, 0 to 100; null where that is not known. Changes once per report at most. */
  get imagePercent(): number | null {
    return this.#state === 'running' ? this.#toldPercent : null;
  }

  /** What keeps its host from going on with it; null where nothing is known to. */
  get heldUpBy(): string | null {
    return this.#state === 'running' ? this.#heldUp.by : null;
  }

  /** Why the last preparation failed; told once. */
  takeFailure(): Failure | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }

  begin(assigned: DesiredWorker | null): void {
    if (assigned === null || this.#state === 'running') return;
    this.#state = 'running';
    this.#running = new AbortController();
    this.#percent = null;
    this.#toldPercent = null;
    this.#heldUp.clear();
    void this.#prepare(assigned, this.#running.signal);
  }

  /** The next `begin` starts afresh. */
  cancel(): void {
    this.#running.abort();
    this.#state = 'none';
  }

  async #prepare(assigned: DesiredWorker, signal: AbortSignal): Promise<void> {
    const { metrics, runtime } = this.#tools;
    const onProgress = tellProgress(this.#tools, assigned.workerId);
    const telling = new AbortController();
    const onPercent = (percent: number): void => {
      if (signal.aborted) return;
      const isFirst = this.#percent === null;
      this.#percent = percent;
      if (isFirst) void this.#tellProgress(AbortSignal.any([signal, telling.signal]));
    };
    try {
      const onHeldUp = this.#heldUp.hearer(assigned.workerId, signal);
      await runtime.prepare(requestOf(assigned), { signal, onHeldUp, onProgress, onPercent });
      metrics.preparations.inc({ outcome: 'done' });
      if (!signal.aborted) this.#state = 'done';
    } catch (error) {
      if (signal.aborted) return;
      metrics.preparations.inc({ outcome: error instanceof RuntimeError ? error.reason : 'unknown' });
      this.#state = 'none';
      this.#failure = describeFailure(error);
    } finally {
      telling.abort();
    }
    this.#onChange();
  }

  /** An engine tells progress many times a second or, when a registry is slow, long not at all; every change is a report. */
  async #tellProgress(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#toldPercent !== this.#percent) {
        this.#toldPercent = this.#percent;
        this.#onChange();
      }
      await this.#tools.clock.sleep(REPORT_INTERVAL_MS, signal);
    }
  }
}

const requestOf = ({ accountId, container, imageDigest, registryCredentials }: DesiredWorker): ImageRequest => ({
  ...{ image: container.image, credentials: registryCredentials ?? null },
  ...(imageDigest === undefined ? {} : { digest: imageDigest }),
  ...(accountId === undefined ? {} : { accountId }),
});

type PrepareTools = Pick<WorkerTools, 'clock' | 'runtime' | 'logger' | 'logs' | 'metrics'>;
