import { fullBucket, takeToken, type Bucket, type BucketLimit } from '@berth/domain';

/** Enough to see that somebody asks, and with what; a flood of them fills no disk. */
const STRANGERS_LINES: BucketLimit = { tokensMax: 10, tokensPerSecond: 10 };

/** What a line has to say besides: how many before it were left out, where any were. */
export interface LineRoom {
  readonly leftOut?: number;
}

/** The lines of the log about requests without a good key, of all who send such together. */
export class StrangersLines {
  #bucket: Bucket = fullBucket(STRANGERS_LINES, 0);
  #leftOut = 0;

  /** Null: this line is left out. @param nowMs monotonic */
  take(nowMs: number): LineRoom | null {
    const { bucket, isAdmitted } = takeToken(this.#bucket, STRANGERS_LINES, nowMs);
    this.#bucket = bucket;
    if (!isAdmitted) {
      this.#leftOut += 1;
      return null;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    return leftOut === 0 ? {} : { leftOut };
  }
}
