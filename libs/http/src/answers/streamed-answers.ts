import { findCaller } from '../auth/access.decorator.js';
import type { BodyBudget, BodyHold } from '../bodies/body-budget.js';
import { LARGE_ANSWER_BYTES, STALLED_AFTER_MS, cutOffLate, takenWithinMs } from './limit-answers.js';
import type { Clock } from '@berth/lifecycle';
import type { FastifyReply } from 'fastify';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface StreamedAnswersOptions {
  /** The bytes that lie here for readers that have not taken them yet, all together. */
  readonly budget: BodyBudget;
  readonly clock: Clock;
  /** Other than the default only where a test waits for it. */
  readonly stalledAfterMs?: number;
}

/** Answers that are written piece by piece, as fast as their reader takes them and no faster. */
export class StreamedAnswers {
  readonly #limits: Required<StreamedAnswersOptions>;
  #open = 0;

  constructor({ budget, clock, stalledAfterMs = STALLED_AFTER_MS }: StreamedAnswersOptions) {
    this.#limits = { budget, clock, stalledAfterMs };
  }

  /** Answers that are being written. */
  get open(): number {
    return this.#open;
  }

  /** Room, as for texts that wait for a reader, for what an answer to it has to be kept back. */
  hold(reply: FastifyReply): BodyHold {
    return this.#limits.budget.hold(ownerOf(reply));
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
    return new StreamedAnswer(reply, this.#limits);
  }

  /**
   * Sends a whole body but holds its last byte until `beforeEnd` is done: a reader that has all of it finds that
   * done, and one that went away before the rest had left finds it undone.
   *
   * @throws PlatformError `service-unavailable` before anything is sent, when other bodies leave no room
   */
  async send(reply: FastifyReply, body: string, beforeEnd: () => Promise<void>): Promise<void> {
    const bytes = Buffer.byteLength(body);
    const release = reserve(this.#limits.budget, bytes, ownerOf(reply));
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

/** @param owner the account of the reader; null where it is not known */
const reserve = (budget: BodyBudget, bytes: number, owner: string | null): (() => void) =>
  bytes < LARGE_ANSWER_BYTES ? nothing : budget.take(bytes, owner);

const ownerOf = ({ request }: FastifyReply): string | null => findCaller(request)?.accountId ?? null;

export class StreamedAnswer {
  readonly #raw: ServerResponse;
  readonly #socket: Socket;
  readonly #limits: Required<StreamedAnswersOptions>;
  readonly #owner: string | null;
  readonly #gone = new AbortController();

  constructor(reply: FastifyReply, limits: Required<StreamedAnswersOptions>) {
    const { raw } = reply;
    const { socket } = reply.request.raw;
    this.#raw = raw;
    this.#socket = socket;
    this.#limits = limits;
    this.#owner = ownerOf(reply);
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
   * Resolves when the text has left this process, so that a slow reader slows the writer; false when there is
   * no reader any more.
   *
   * @throws PlatformError `service-unavailable` when the texts that wait for their readers leave no room
   */
  async write(text: string): Promise<boolean> {
    const release = reserve(this.#limits.budget, Buffer.byteLength(text), this.#owner);
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
      const inTime = this.#cutOffLate(text);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          signal.removeEventListener('abort', done);
          this.#allow(0);
          resolve();
        };
        signal.addEventListener('abort', done);
        this.#allow(this.#limits.stalledAfterMs);
        this.#raw.write(text, (error) => {
          // The socket tells of its end here before it does so everywhere.
          if (error) this.#gone.abort();
          done();
        });
      });
      inTime();
    }
    return !signal.aborted;
  }

  /** The last of it; the reader sees a whole answer. */
  end(text = ''): void {
    if (this.#gone.signal.aborted) return;
    this.#allow(this.#limits.stalledAfterMs);
    this.#raw.end(text);
  }

  #cutOffLate(text: string): () => void {
    const { clock, stalledAfterMs } = this.#limits;
    const bytes = Buffer.byteLength(text);
    if (bytes < LARGE_ANSWER_BYTES) return nothing;
    return cutOffLate(this.#socket, takenWithinMs(bytes, stalledAfterMs), clock);
  }

  /** Only a reader that has something to take can stall: an answer may be silent for as long as its job. 0: no limit. */
  #allow(silenceMs: number): void {
    this.#raw.socket?.setTimeout(silenceMs);
  }
}
