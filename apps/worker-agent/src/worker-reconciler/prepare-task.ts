import type { DesiredWorker as AssignedWorker } from '@berth/contracts';
import type { Preparation } from '@berth/domain';
import { RuntimeError } from '../runtimes/container-runtime.port.js';
import { failureReason } from './worker-steps.js';
import type { WorkerTools } from './worker-tools.js';

/** One worker's image on its way: runs beside the worker's task, which must be able to change its mind meanwhile. */
export class PrepareTask {
  readonly #tools: Pick<WorkerTools, 'runtime' | 'logger' | 'metrics'>;
  readonly #onEnd: () => void;
  #state: Preparation = 'none';
  #failure: string | null = null;
  #running = new AbortController();

  constructor(tools: Pick<WorkerTools, 'runtime' | 'logger' | 'metrics'>, onEnd: () => void) {
    this.#tools = tools;
    this.#onEnd = onEnd;
  }

  get state(): Preparation {
    return this.#state;
  }

  /** Why the last preparation failed; told once. */
  takeFailure(): string | null {
    const failure = this.#failure;
    this.#failure = null;
    return failure;
  }

  begin(assigned: AssignedWorker | null): void {
    if (assigned === null || this.#state === 'running') return;
    this.#state = 'running';
    this.#running = new AbortController();
    void this.#prepare(assigned, this.#running.signal);
  }

  /** The next `begin` starts afresh. */
  cancel(): void {
    this.#running.abort();
    this.#state = 'none';
  }

  async #prepare({ workerId, container, registryCredentials }: AssignedWorker, signal: AbortSignal): Promise<void> {
    const { logger, metrics, runtime } = this.#tools;
    const onProgress = (line: string): void => {
      logger.info(`preparing: ${line}`, { workerId });
    };
    try {
      const request = { image: container.image, credentials: registryCredentials ?? null };
      await runtime.prepare(request, { signal, onProgress });
      metrics.preparations.inc({ outcome: 'done' });
      if (!signal.aborted) this.#state = 'done';
    } catch (error) {
      if (signal.aborted) return;
      metrics.preparations.inc({ outcome: error instanceof RuntimeError ? error.reason : 'unknown' });
      this.#state = 'none';
      this.#failure = failureReason(error);
    }
    this.#onEnd();
  }
}
