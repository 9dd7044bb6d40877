import type { WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { BodyBounds } from '../bridge.port.js';

/** Any sender may pause so long. */
const GRACE_MS = 5_000;
/** About 1 MiB/s: a worker is on the same machine. */
const LEAST_BYTES_PER_MS = 1_024;

/** Whether a body that others wait for comes so slowly that it has to give way. */
const isTooSlow = ({ heldMs, arrivedBytes }: { readonly heldMs: number; readonly arrivedBytes: number }): boolean =>
  arrivedBytes < (heldMs - GRACE_MS) * LEAST_BYTES_PER_MS;

interface Waiter {
  readonly bytes: number;
  readonly admit: (isAdmitted: boolean) => void;
}

/**
 * Memory for large bodies. Room is given for a whole body before it is read on, so that no two bodies wait for each
 * other's rest; worker by worker in turn, so that one that asks for much waits for itself.
 */
export class BodyQueue {
  readonly #bounds: BodyBounds;
  readonly #clock: Clock;
  readonly #held = new Map<WorkerId, number>();
  /** The worker that is next stands first. */
  readonly #waiting = new Map<WorkerId, Waiter[]>();
  readonly #reading = new Set<BodyMemory>();
  #heldBytes = 0;

  constructor(bounds: BodyBounds, clock: Clock) {
    this.#bounds = bounds;
    this.#clock = clock;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Takes nothing yet. @param gone the sender hung up: it waits no more */
  roomFor(workerId: WorkerId, gone: AbortSignal): BodyMemory {
    return new BodyMemory({
      take: (bytes) => this.#take(workerId, bytes, gone),
      give: (room, bytes) => {
        this.#reading.delete(room);
        if (bytes > 0) this.#give(workerId, bytes);
      },
      beginReading: (room) => this.#reading.add(room),
      endReading: (room) => this.#reading.delete(room),
      nowMs: () => this.#clock.monotonicMs(),
    });
  }

  /** While others wait, bodies that hardly come give their room back. Call it every now and then. */
  watch(): void {
    if (this.#waiting.size === 0) return;
    for (const room of [...this.#reading]) room.giveWayIfSlow();
  }

  #take(workerId: WorkerId, bytes: number, gone: AbortSignal): Promise<boolean> {
    if (gone.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const waiter: Waiter = { bytes, admit: resolve };
      this.#waiting.set(workerId, [...(this.#waiting.get(workerId) ?? []), waiter]);
      gone.addEventListener('abort', () => this.#forget(workerId, waiter), { once: true });
      this.#serve();
    });
  }

  #give(workerId: WorkerId, bytes: number): void {
    const left = this.#heldOf(workerId) - bytes;
    if (left === 0) this.#held.delete(workerId);
    else this.#held.set(workerId, left);
    this.#heldBytes -= bytes;
    this.#serve();
  }

  #forget(workerId: WorkerId, waiter: Waiter): void {
    const queue = this.#waiting.get(workerId) ?? [];
    if (!queue.includes(waiter)) return;
    this.#setQueue(
      workerId,
      queue.filter((each) => each !== waiter),
    );
    waiter.admit(false);
    this.#serve();
  }

  #serve(): void {
    while (this.#serveNext());
  }

  /** A worker that has its share is passed over; nobody else is, or what needs much would never come. */
  #serveNext(): boolean {
    for (const [workerId, [first, ...others]] of this.#waiting) {
      if (first === undefined || this.#heldOf(workerId) + first.bytes > this.#bounds.workerBytesMax) continue;
      if (this.#heldBytes + first.bytes > this.#bounds.hostBytesMax) return false;
      this.#waiting.delete(workerId);
      this.#setQueue(workerId, others);
      this.#held.set(workerId, this.#heldOf(workerId) + first.bytes);
      this.#heldBytes += first.bytes;
      first.admit(true);
      return true;
    }
    return false;
  }

  #setQueue(workerId: WorkerId, queue: Waiter[]): void {
    if (queue.length === 0) this.#waiting.delete(workerId);
    else this.#waiting.set(workerId, queue);
  }

  #heldOf(workerId: WorkerId): number {
    return this.#held.get(workerId) ?? 0;
  }
}

interface RoomLinks {
  readonly take: (bytes: number) => Promise<boolean>;
  readonly give: (room: BodyMemory, bytes: number) => void;
  readonly beginReading: (room: BodyMemory) => void;
  readonly endReading: (room: BodyMemory) => void;
  readonly nowMs: () => number;
}

/** The memory of one body. Give it back in the end, whatever became of the body. */
export class BodyMemory {
  readonly #links: RoomLinks;
  readonly #slow = new AbortController();
  #bytes = 0;
  #arrivedBytes = 0;
  #sinceMs = 0;
  #isOver = false;

  constructor(links: RoomLinks) {
    this.#links = links;
  }

  /** Aborted when the body has to give way because it came too slowly. */
  get slow(): AbortSignal {
    return this.#slow.signal;
  }

  /** Waits until there is room for `bytes` in all. False: the sender has hung up, or the room is not wanted any more. */
  async admit(bytes: number): Promise<boolean> {
    if (!(await this.#links.take(bytes))) return false;
    this.#bytes = bytes;
    if (this.#isOver) {
      this.#giveBack();
      return false;
    }
    this.#sinceMs = this.#links.nowMs();
    this.#links.beginReading(this);
    return true;
  }

  noteArrived(bytes: number): void {
    this.#arrivedBytes += bytes;
  }

  /** The body is there: from now on it is not its sender who holds the room. */
  noteWhole(): void {
    this.#links.endReading(this);
  }

  giveWayIfSlow(): void {
    const heldMs = this.#links.nowMs() - this.#sinceMs;
    if (isTooSlow({ heldMs, arrivedBytes: this.#arrivedBytes })) this.#slow.abort();
  }

  release(): void {
    this.#isOver = true;
    this.#giveBack();
  }

  #giveBack(): void {
    const bytes = this.#bytes;
    this.#bytes = 0;
    this.#links.give(this, bytes);
  }
}
