import { LOG_ANSWER_BYTES_MAX, LOG_CURSORS_MAX } from '@berth/contracts';
import type { EndpointId, HostId, WorkerId, WorkerLogPlace } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { Handover } from './handover.js';
import { HostFollower, type HostFollowerOptions } from './host-follower.js';
import type { FollowedWorker, LogEvent, LogWish } from './log-event.js';
import type { KeptLog } from './log-places.store.js';

export interface LogFollowerOptions extends Pick<HostFollowerOptions, 'ask' | 'clock'> {
  readonly endpointId: EndpointId;
  /** Null: all workers of the endpoint. */
  readonly workerId: WorkerId | null;
  readonly wish: LogWish;
  /** Where the reader has been; null: it begins. */
  readonly resumed: ResumedPlace | null;
  /** As they are now; null: the endpoint is no more. */
  readonly places: () => Promise<readonly KeptLog[] | null>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ResumedPlace extends WorkerLogPlace {
  /** Of the last line that the reader has. */
  readonly atMs: number;
}

/** Workers come and go, and hosts with them. */
const REFRESH_MS = 5_000;
const PULSE_MS = 15_000;
const HOST_BYTES_MIN = 8 * 1_024;
const ONE_WORKER_BYTES = 64 * 1_024;
/** One that left so long before the reader's last line has been told to its end. */
const LEFT_BEFORE_MS = 60_000;

/** Follows the log of one worker to its end, or those of all workers of an endpoint until the reader leaves. */
export class LogFollower {
  readonly #options: LogFollowerOptions;
  readonly #handover = new Handover<readonly LogEvent[]>();
  readonly #hosts = new Map<HostId, HostFollower>();
  readonly #running: Promise<void>[] = [];
  readonly #stop = new AbortController();
  #isFirst = true;

  constructor(options: LogFollowerOptions) {
    this.#options = options;
  }

  /**
   * Null where nothing came for fifteen seconds. What is not taken keeps the next from being asked for.
   *
   * @param places those of the first look
   */
  async *follow(places: readonly KeptLog[], signal: AbortSignal): AsyncGenerator<readonly LogEvent[] | null> {
    const { clock } = this.#options;
    const until = AbortSignal.any([signal, this.#stop.signal]);
    this.#see(places, until);
    this.#running.push(this.#guard(this.#refresh(until)));
    try {
      while (!until.aborted) {
        const events = await this.#handover.take(PULSE_MS, { clock, signal: until });
        if (until.aborted) return;
        yield events;
        if (events?.some(({ kind }) => kind === 'over') === true) return;
      }
    } finally {
      this.#stop.abort();
      await Promise.all(this.#running);
    }
  }

  async #refresh(until: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!until.aborted) {
      await clock.sleep(REFRESH_MS, until);
      if (until.aborted) return;
      try {
        const places = await this.#options.places();
        if (places === null) await this.#handover.put([{ kind: 'over' }], until);
        else this.#see(places, until);
      } catch (error) {
        logger.debug('where workers are cannot be read now; what is followed goes on', { error });
      }
    }
  }

  #see(places: readonly KeptLog[], until: AbortSignal): void {
    const known = new Set([...this.#hosts.values()].flatMap(({ workers }) => workers.map(({ workerId }) => workerId)));
    const live = [...this.#hosts.values()].flatMap(({ workers }) => workers.filter(({ isEnded }) => !isEnded)).length;
    let room = LOG_CURSORS_MAX - live;
    const here = new Set<WorkerId>();
    for (const place of places) {
      here.add(place.workerId);
      const isNew = !known.has(place.workerId);
      if (isNew && (room === 0 || this.#wasTold(place))) continue;
      if (isNew) room -= 1;
      this.#hostOf(place.hostId, until).add(this.#beginning(place));
    }
    // One that is not even among those that have left is known to nobody any more.
    for (const host of this.#hosts.values()) {
      for (const worker of host.workers) if (!here.has(worker.workerId)) host.add({ ...worker, isPresent: false });
    }
    this.#isFirst = false;
  }

  /** Where a worker begins that is new to the reader: at its first line, unless it is the reader's first look. */
  #beginning({ departedAtMs, workerId }: KeptLog): FollowedWorker {
    const { resumed } = this.#options;
    const first = resumed === null && this.#isFirst ? null : 0;
    const after = resumed?.workers === null ? resumed.sequence : (resumed?.workers.get(workerId) ?? first);
    return { workerId, after, isPresent: departedAtMs === null, isEnded: false };
  }

  #wasTold({ departedAtMs, workerId }: KeptLog): boolean {
    const { resumed } = this.#options;
    if (departedAtMs === null) return false;
    // A worker that left before the reader came is in its first look or nowhere.
    if (resumed === null) return !this.#isFirst;
    if (resumed.workers === null || resumed.workers.has(workerId)) return false;
    return departedAtMs < resumed.atMs - LEFT_BEFORE_MS;
  }

  #hostOf(hostId: HostId, until: AbortSignal): HostFollower {
    const known = this.#hosts.get(hostId);
    if (known !== undefined) return known;
    const { ask, clock, endpointId, wish } = this.#options;
    const tell = async (events: readonly LogEvent[]): Promise<void> => {
      await this.#handover.put(this.#isOver() ? [...events, { kind: 'over' }] : events, until);
    };
    const host = new HostFollower({ hostId, endpointId, wish, ask, tell, clock, bytesMax: () => this.#bytesMax() });
    this.#hosts.set(hostId, host);
    this.#running.push(this.#guard(host.run(until)));
    return host;
  }

  /** All hosts' answers together fit into one of the largest size. */
  #bytesMax(): number {
    if (this.#options.workerId !== null) return ONE_WORKER_BYTES;
    return Math.max(HOST_BYTES_MIN, Math.floor(LOG_ANSWER_BYTES_MAX / this.#hosts.size));
  }

  #isOver(): boolean {
    if (this.#options.workerId === null) return false;
    return [...this.#hosts.values()].every(({ workers }) => workers.every(({ isEnded }) => isEnded));
  }

  /** What nobody expected ends the stream without its last event, so that its reader comes back. */
  async #guard(run: Promise<void>): Promise<void> {
    try {
      await run;
    } catch (error) {
      this.#options.logger.error('a log could not be followed any further', { error });
      this.#stop.abort();
    }
  }
}
