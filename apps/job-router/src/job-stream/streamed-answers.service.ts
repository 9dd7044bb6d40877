import type { FastifyReply } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { BodyBudget } from '../body-budget.js';

/** Texts below it wait in the sockets' own buffers. */
const LARGE_BYTES = 64 * 1024;

/** A reader that has taken nothing for so long is cut off: it holds what others could be given. */
const STALLED_AFTER_MS = 60_000;

export interface StreamedAnswersOptions {
  /** What lies here for readers that have not taken it yet, all together. */
  readonly budget: BodyBudget;
  /** Other than the default only where a test waits for it. */
  readonly stalledAfterMs?: number;
}

/** Answers that are written piece by piece, as fast as their reader takes them and no faster. */
export class StreamedAnswers {
  readonly #budget: BodyBudget;
  readonly #stalledAfterMs: number;
  #open = 0;

  constructor({ budget, stalledAfterMs = STALLED_AFTER_MS }: StreamedAnswersOptions) {
    this.#budget = budget;
    this.#stalledAfterMs = stalledAfterMs;
  }

  /** Answers that are being written. */
  get open(): number {
    return this.#open;
  }

  /**
   * Sends status and headers at once. From here on the answer is the caller's: no filter and no hook changes it.
   *
   * @param headers more than, or instead of, those that the reply has
   */
  begin(reply: FastifyReply, headers: Readonly<Record<string, string>>): StreamedAnswer {
    reply.hijack();
    const { raw } = reply;
    const known = Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined);
    raw.writeHead(reply.statusCode, { ...Object.fromEntries(known), ...headers });
    raw.flushHeaders();
    this.#open += 1;
    raw.once('close', () => {
      this.#open -= 1;
    });
    return new StreamedAnswer(reply, this.#budget, this.#stalledAfterMs);
  }

  /**
   * Sends a whole body but holds its last byte until `beforeEnd` is done: a reader that has all of it finds that
   * done, and one that went away before the rest had left finds it undone.
   *
   * @throws PlatformError `service-unavailable` before anything is sent, when other bodies leave no room
   */
  async send(reply: FastifyReply, body: string, beforeEnd: () => Promise<void>): Promise<void> {
    const bytes = Buffer.byteLength(body);
    const release = reserve(this.#budget, bytes);
    try {
      const answer = this.begin(reply, { 'content-length': String(bytes) });
      if (!(await answer.handOver(body.slice(0, -1)))) return;
      await beforeEnd();
      answer.end(body.slice(-1));
    } finally {
      release();
    }
  }
}

const nothing = (): void => undefined;

const reserve = (budget: BodyBudget, bytes: number): (() => void) =>
  bytes < LARGE_BYTES ? nothing : budget.take(bytes);

export class StreamedAnswer {
  readonly #raw: ServerResponse;
  readonly #budget: BodyBudget;
  readonly #stalledAfterMs: number;
  readonly #gone = new AbortController();

  constructor({ raw, request }: FastifyReply, budget: BodyBudget, stalledAfterMs: number) {
    this.#raw = raw;
    this.#budget = budget;
    this.#stalledAfterMs = stalledAfterMs;
    const { socket } = request.raw;
    const leave = (): void => {
      socket.removeListener('close', leave);
      this.#gone.abort();
    };
    raw.once('close', leave);
    // An answer that waits behind another one on its connection is not told that the connection is gone.
    socket.once('close', leave);
    if (socket.destroyed) leave();
  }

  /** Aborts when the reader has gone, was cut off, or has everything. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /**
   * Resolves when the text has left this process, so that a slow reader slows whoever writes; false when there is
   * nobody to write to any more.
   *
   * @throws PlatformError `service-unavailable` when the texts that wait for their readers leave no room
   */
  async write(text: string): Promise<boolean> {
    const release = reserve(this.#budget, Buffer.byteLength(text));
    try {
      return await this.handOver(text);
    } finally {
      release();
    }
  }

  /** Like `write`, for a text that has its room already. */
  async handOver(text: string): Promise<boolean> {
    const { signal } = this.#gone;
    if (!signal.aborted && text !== '') {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          signal.removeEventListener('abort', done);
          this.#allow(0);
          resolve();
        };
        signal.addEventListener('abort', done);
        this.#allow(this.#stalledAfterMs);
        this.#raw.write(text, (error) => {
          // The socket tells of its end here before it does so everywhere.
          if (error) this.#gone.abort();
          done();
        });
      });
    }
    return !signal.aborted;
  }

  /** The last of it; the reader sees a whole answer. */
  end(text = ''): void {
    if (this.#gone.signal.aborted) return;
    this.#allow(this.#stalledAfterMs);
    this.#raw.end(text);
  }

  /** Only a reader that has something to take can stall: an answer may be silent for as long as its job. 0: no limit. */
  #allow(silenceMs: number): void {
    this.#raw.socket?.setTimeout(silenceMs);
  }
}
