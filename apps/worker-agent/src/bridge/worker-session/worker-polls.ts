import type { Clock } from '@berth/lifecycle';
import { SIGTERM_HEARD_MS } from './poll-hold.js';
import type { StopPolls } from './stop-polls.js';
import type { TakePolls } from './take-polls.js';

/** What one worker has parked: its takes, and its polls for jobs to stop. */
export class WorkerPolls {
  readonly takes: TakePolls;
  readonly stops: StopPolls;
  readonly #clock: Clock;

  constructor(takes: TakePolls, stops: StopPolls, clock: Clock) {
    this.takes = takes;
    this.stops = stops;
    this.#clock = clock;
  }

  /** No job any more. A worker that ends by itself waits for its own polls first. Resolves when the answers are out. */
  async release(): Promise<void> {
    this.stops.release();
    await this.takes.release();
  }

  /** No job until `takes.open`. Resolves when the answers are out. */
  async hold(): Promise<void> {
    this.stops.answer();
    await this.takes.hold();
  }

  /** Its process has got SIGTERM: what it parked before it heard of that is answered once it has. */
  async answerWhenHeard(): Promise<void> {
    await this.#clock.sleep(SIGTERM_HEARD_MS);
    this.stops.answer();
    this.takes.refresh();
  }
}
