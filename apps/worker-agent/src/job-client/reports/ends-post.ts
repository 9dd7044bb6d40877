import { DONE_ENDS_MAX, type AttemptEnd, type DoneReply, type EndAnswer, type ReportReply } from '@berth/contracts';
import { PlatformError, type ErrorCode } from '@berth/domain';
import { atEndOfTurn, type Clock } from '@berth/lifecycle';
import { endBytes } from './payload-bytes.js';
import type { RouterLink } from '../router-link.port.js';

interface Waiting {
  /** Made when it is sent: it may tell how long ago something was. */
  readonly end: () => AttemptEnd;
  readonly resolve: (reply: ReportReply) => void;
  readonly reject: (error: unknown) => void;
}

/** The ends that go in one message, and the callers that wait for the answer to it. */
interface Page {
  readonly ends: readonly AttemptEnd[];
  readonly waiting: readonly Waiting[];
}

/** So that no lease waits long behind a message. */
const MESSAGE_MAX_BYTES = 64 * 1024;
/** Messages that keep the next ends waiting, to go together. */
const YOUNG_MAX = 2;
/** A message of which nothing has been answered for so long keeps nobody waiting any more. */
const YOUNG_MS = 100;
const TIMEOUT_MS = 5_000;

/**
 * Sends the ends of attempts. One that nothing is ahead of goes with the turn of the event loop; those that come while two
 * messages have no answer yet go together when one of them has.
 */
export class EndsPost {
  readonly #link: RouterLink;
  readonly #clock: Clock;
  readonly #waiting: Waiting[] = [];
  #young = 0;
  #isScheduled = false;

  constructor({ clock, link }: { readonly link: RouterLink; readonly clock: Clock }) {
    this.#link = link;
    this.#clock = clock;
  }

  /**
   * @param end made anew when it is sent
   * @throws what a router says of this end, or that there was no answer
   */
  send(end: () => AttemptEnd): Promise<ReportReply> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ end, resolve, reject });
      this.#schedule();
    });
  }

  /** A large one, in a message of its own. @throws as `send` does */
  sendAlone(end: AttemptEnd, timeoutMs: number): Promise<ReportReply> {
    return new Promise((resolve, reject) => {
      void this.#post({ ends: [end], waiting: [{ end: () => end, resolve, reject }] }, timeoutMs, () => undefined);
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#young >= YOUNG_MAX || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    atEndOfTurn(() => {
      this.#isScheduled = false;
      while (this.#young < YOUNG_MAX && this.#waiting.length > 0) void this.#sendPage(this.#takePage());
    });
  }

  #takePage(): Page {
    const ends: AttemptEnd[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting.slice(0, DONE_ENDS_MAX)) {
      const end = waiting.end();
      bytes += endBytes(end);
      if (ends.length > 0 && bytes > MESSAGE_MAX_BYTES) break;
      ends.push(end);
    }
    return { ends, waiting: this.#waiting.splice(0, ends.length) };
  }

  async #sendPage(page: Page): Promise<void> {
    let isYoung = true;
    const grow = (): void => {
      if (!isYoung) return;
      isYoung = false;
      cancel();
      this.#young -= 1;
      this.#schedule();
    };
    this.#young += 1;
    const cancel = this.#clock.after(YOUNG_MS, grow);
    await this.#post(page, TIMEOUT_MS, grow);
    grow();
  }

  /** Never rejects. */
  async #post({ ends, waiting }: Page, timeoutMs: number, onAnswer: () => void): Promise<void> {
    const open = new Map(waiting.entries());
    const onPart = ({ answers }: DoneReply): boolean => {
      onAnswer();
      for (const answer of answers) {
        const told = open.get(answer.place);
        if (told !== undefined) settle(told, answer);
        open.delete(answer.place);
      }
      return open.size === 0;
    };
    try {
      await this.#link.askParts('done', { ends }, { timeoutMs, onPart, onLate: () => undefined });
    } catch (error) {
      for (const { reject } of open.values()) reject(error);
    }
  }
}

function settle({ reject, resolve }: Waiting, answer: EndAnswer): void {
  if ('outcome' in answer) resolve({ outcome: answer.outcome });
  else reject(new PlatformError(answer.error.code as ErrorCode, answer.error.detail));
}
