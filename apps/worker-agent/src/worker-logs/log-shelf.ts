import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { spoolsToTrim, type SpoolBounds, type SpoolSegment } from '@berth/domain';
import { inParallel, Semaphore, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { WorkerSpool, type SpoolOwner } from './worker-spool.js';

export interface LogShelfOptions {
  readonly folder: string;
  readonly bounds: SpoolBounds;
  readonly clock: Clock;
  readonly logger: Logger;
}

const SPOOLS_AT_ONCE = 32;

/** The spools of all workers that this host knows or has known, within their bounds. */
export class LogShelf {
  readonly #options: LogShelfOptions;
  readonly #spools = new Map<string, WorkerSpool>();
  /** Opening, trimming and deleting: one after the other. */
  readonly #changes = new Semaphore(1);
  /** Of workers that the agent looks after. */
  readonly #held = new Set<string>();

  private constructor(options: LogShelfOptions) {
    this.#options = options;
  }

  /** Finds what earlier lives of the agent left. */
  static async open(options: LogShelfOptions): Promise<LogShelf> {
    const shelf = new LogShelf(options);
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    await inParallel(await readdir(options.folder), SPOOLS_AT_ONCE, async (name) => {
      const spool = await WorkerSpool.find(join(options.folder, name));
      if (spool !== null) shelf.#spools.set(spool.owner.workerId, spool);
    });
    return shelf;
  }

  /** Null: there is none of this worker of this endpoint. */
  find(workerId: string, endpointId: string): WorkerSpool | null {
    const spool = this.#spools.get(workerId);
    return spool?.owner.endpointId === endpointId ? spool : null;
  }

  /** The worker's spool, which is written to from now on; null where the disk has no room for it. */
  hold(owner: SpoolOwner): Promise<WorkerSpool | null> {
    this.#held.add(owner.workerId);
    return this.#changes.run(async () => {
      try {
        const known = this.#spools.get(owner.workerId);
        const spool = known ?? (await WorkerSpool.open(join(this.#options.folder, owner.workerId), owner));
        this.#spools.set(owner.workerId, spool);
        return spool;
      } catch (error) {
        this.#options.logger.error('the log of a worker cannot be opened', { workerId: owner.workerId, error });
        return null;
      }
    });
  }

  /** It counts for this account from now on. */
  setAccount(workerId: string, accountId: string): void {
    const spool = this.#spools.get(workerId);
    if (spool === undefined || spool.owner.accountId === accountId) return;
    spool.setOwner({ ...spool.owner, accountId }).catch((error: unknown) => {
      this.#options.logger.warn('whose log it is could not be kept', { workerId, error });
    });
  }

  /** Its writer has gone. */
  release(workerId: string): void {
    this.#held.delete(workerId);
  }

  isHeld(workerId: string): boolean {
    return this.#held.has(workerId);
  }

  /** Endpoints of which only workers that are gone have left something. */
  leftEndpointIds(): readonly string[] {
    const owners = [...this.#spools.values()].map(({ owner }) => owner);
    const held = new Set(owners.filter(({ workerId }) => this.isHeld(workerId)).map(({ endpointId }) => endpointId));
    return [...new Set(owners.map(({ endpointId }) => endpointId))].filter((id) => !held.has(id));
  }

  /** Removes all that is left of the endpoint's workers; a worker that the agent still looks after loses what it has. */
  deleteEndpoint(endpointId: string): Promise<void> {
    return this.#changes.run(async () => {
      for (const [workerId, spool] of this.#spools) {
        if (spool.owner.endpointId !== endpointId || this.isHeld(workerId)) continue;
        await this.#remove(workerId, spool);
      }
    });
  }

  /** Removes what is too old or too much. */
  trim(): Promise<void> {
    return this.#changes.run(async () => {
      const { bounds, clock } = this.#options;
      for (const { firstSequence, workerId } of spoolsToTrim(this.#segments(), bounds, clock.nowMs())) {
        await this.#spools.get(workerId)?.drop(firstSequence);
      }
      for (const [workerId, spool] of this.#spools) {
        if (spool.segments.length === 0 && !this.isHeld(workerId)) await this.#remove(workerId, spool);
      }
    });
  }

  #segments(): readonly SpoolSegment[] {
    return [...this.#spools.values()].flatMap(({ owner, segments }) =>
      segments.map((segment, index) => {
        const isOpen = this.isHeld(owner.workerId) && index === segments.length - 1;
        return { ...segment, workerId: owner.workerId, accountId: owner.accountId, isOpen };
      }),
    );
  }

  async #remove(workerId: string, spool: WorkerSpool): Promise<void> {
    this.#spools.delete(workerId);
    await spool.remove();
  }
}
