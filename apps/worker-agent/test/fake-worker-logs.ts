import type { EndpointId, WorkerId } from '@berth/domain';
import type { LoggedWorker, WorkerLogs } from '../src/worker-logs/worker-logs.port.js';

/** Remembers what it was told, in order, and keeps nothing on a disk. */
export class FakeWorkerLogs implements WorkerLogs {
  /** `w1: ready` for what was said, `follow w1 c1` and so on for the rest. */
  readonly told: string[] = [];
  readonly opened: LoggedWorker[] = [];
  spooled: readonly EndpointId[] = [];
  forgotten: EndpointId[] = [];
  readonly #ended = new Set<string>();

  open(worker: LoggedWorker): void {
    this.opened.push(worker);
  }

  say(workerId: WorkerId, line: string): void {
    this.told.push(`${workerId}: ${line}`);
  }

  sayEnded(workerId: WorkerId, line: string, containerId: string): void {
    if (!this.#ended.has(containerId)) this.say(workerId, line);
    this.#ended.add(containerId);
  }

  follow(workerId: WorkerId, containerId: string): void {
    const call = `follow ${workerId} ${containerId}`;
    if (!this.told.includes(call)) this.told.push(call);
  }

  async settle(workerId: WorkerId): Promise<void> {
    this.told.push(`settle ${workerId}`);
  }

  noteJobStart(workerId: WorkerId, jobId: string): void {
    this.told.push(`${workerId} begins ${jobId}`);
  }

  noteJobEnd(workerId: WorkerId, jobId: string): void {
    this.told.push(`${workerId} ends ${jobId}`);
  }

  close(workerId: WorkerId): void {
    this.told.push(`close ${workerId}`);
  }

  spooledEndpointIds(): readonly EndpointId[] {
    return this.spooled;
  }

  forgetEndpoints(endpointIds: readonly EndpointId[]): void {
    this.forgotten.push(...endpointIds);
  }
}
