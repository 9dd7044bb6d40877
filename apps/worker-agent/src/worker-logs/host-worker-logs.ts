import { SPOOLED_ENDPOINTS_MAX, type LogsReply, type LogsRequest } from '@berth/contracts';
import { PlatformError, type EndpointId, type JobId, type WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ContainerRuntime } from '../runtimes/index.js';
import { LogAnswers } from './log-answers.js';
import { LogShelf, type LogShelfOptions } from './log-shelf.js';
import { WorkerLog } from './worker-log.js';
import type { LoggedWorker, WorkerLogs } from './worker-logs.port.js';

export interface HostWorkerLogsOptions extends LogShelfOptions {
  readonly runtime: Pick<ContainerRuntime, 'follow'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const TRIM_MS = 10_000;
const TELL_DROPPED_MS = 1_000;

/** The logs of this host's workers: kept while they live and for a while after, told to whom the control plane asks for. */
export class HostWorkerLogs implements WorkerLogs {
  readonly #options: HostWorkerLogsOptions;
  readonly #shelf: LogShelf;
  readonly #answers: LogAnswers;
  readonly #logs = new Map<WorkerId, WorkerLog>();
  readonly #stops: (() => void)[];
  /** Where the next report goes on, when there are more endpoints than one has room for. */
  #toldEndpoints = 0;
  #isServing = false;

  private constructor(options: HostWorkerLogsOptions, shelf: LogShelf) {
    const { clock } = options;
    this.#options = options;
    this.#shelf = shelf;
    this.#answers = new LogAnswers({ shelf, clock });
    this.#stops = [
      clock.every(TRIM_MS, () => void this.#trim()),
      clock.every(TELL_DROPPED_MS, () => {
        for (const log of this.#logs.values()) void log.tellDropped();
      }),
    ];
  }

  static async open(options: HostWorkerLogsOptions): Promise<HostWorkerLogs> {
    return new HostWorkerLogs(options, await LogShelf.open(options));
  }

  open({ accountId, endpointId, workerId }: LoggedWorker): void {
    if (this.#logs.has(workerId)) {
      if (accountId !== null) this.#shelf.setAccount(workerId, accountId);
      return;
    }
    const spool = this.#shelf.hold({ workerId, endpointId, accountId: accountId ?? endpointId });
    const onLines = (): void => {
      this.#answers.wake(workerId);
    };
    this.#logs.set(workerId, new WorkerLog({ ...this.#options, workerId, spool, onLines }));
  }

  say(workerId: WorkerId, line: string): void {
    this.#logs.get(workerId)?.say(line);
  }

  sayEnded(workerId: WorkerId, line: string, containerId: string): void {
    this.#logs.get(workerId)?.sayLast(line, `ended ${containerId}`);
  }

  follow(workerId: WorkerId, containerId: string): void {
    this.#logs.get(workerId)?.follow(containerId);
  }

  async settle(workerId: WorkerId): Promise<void> {
    await this.#logs.get(workerId)?.settle();
  }

  noteJobStart(workerId: WorkerId, jobId: JobId): void {
    this.#logs.get(workerId)?.noteJobStart(jobId);
  }

  noteJobEnd(workerId: WorkerId, jobId: JobId): void {
    this.#logs.get(workerId)?.noteJobEnd(jobId);
  }

  close(workerId: WorkerId): void {
    const log = this.#logs.get(workerId);
    if (log === undefined) return;
    this.#logs.delete(workerId);
    void log.close().then(() => {
      // Wanted again meanwhile: another log of the same worker goes on.
      if (!this.#logs.has(workerId)) this.#shelf.release(workerId);
      this.#answers.wake(workerId);
    });
  }

  /** From here on it is known which workers are here, and questions are answered. */
  serve(): void {
    this.#isServing = true;
  }

  /** @throws PlatformError `rate-limited`, and `service-unavailable` while the agent starts or stops */
  async answer(request: LogsRequest): Promise<LogsReply> {
    if (!this.#isServing) throw new PlatformError('service-unavailable', 'The agent of this host starts, or stops.');
    return this.#answers.answer(request);
  }

  /** Endpoints of which something is kept, and no worker is here any more: as many as a report has room for, in turns. */
  spooledEndpointIds(): readonly EndpointId[] {
    const ids = this.#shelf.leftEndpointIds() as readonly EndpointId[];
    if (ids.length <= SPOOLED_ENDPOINTS_MAX) return ids;
    const from = this.#toldEndpoints % ids.length;
    this.#toldEndpoints = from + SPOOLED_ENDPOINTS_MAX;
    return [...ids, ...ids].slice(from, from + SPOOLED_ENDPOINTS_MAX);
  }

  /** The endpoints are no more, and nor is what their workers printed. */
  forgetEndpoints(endpointIds: readonly EndpointId[]): void {
    for (const endpointId of endpointIds) {
      this.#shelf.deleteEndpoint(endpointId).catch((error: unknown) => {
        this.#options.logger.error('logs of a deleted endpoint could not be removed; it is tried again', {
          endpointId,
          error,
        });
      });
    }
  }

  /** Containers go on, and what they print meanwhile is taken up by the agent's next life. */
  async stop(): Promise<void> {
    this.#isServing = false;
    for (const stop of this.#stops) stop();
    this.#answers.close();
    await Promise.all([...this.#logs.values()].map((log) => log.close()));
  }

  async #trim(): Promise<void> {
    await this.#shelf.trim().catch((error: unknown) => {
      this.#options.logger.error('logs of workers could not be cut to their bounds', { error });
    });
  }
}
