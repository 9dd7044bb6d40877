import { isEnded, type RawJson } from '@berth/domain';
import {
  encodeEvent,
  EVENT_STREAM_HEADERS,
  PING,
  type BodyHold,
  type StreamedAnswer,
  type StreamedAnswers,
} from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { FastifyReply } from 'fastify';
import type { JobStream, StreamBatch } from '../job-stream/index.js';
import { AnswerFrames } from './answer-frames.js';
import type { OpenAiExchange } from './exchange.js';
import { failureOf, noWorker, toFailure, workerLost } from './openai-failure.js';
import type { WorkerOutputs } from './worker-outputs.js';

/**
 * Silence after which a comment goes out. The first one sends the headers too: until then a failure still has a status
 * of its own, which every client understands.
 */
const PULSE_MS = 5_000;

const FROM_START = { attempt: 0, index: 0 };

export interface AnswerRelayOptions {
  readonly stream: JobStream;
  readonly outputs: WorkerOutputs;
  readonly answers: StreamedAnswers;
  readonly clock: Clock;
  /** How long a job may wait for a worker. */
  readonly queueWaitMs: number;
}

/** Passes workers' answers on piece by piece, as they come. */
export class AnswerRelay {
  readonly #options: AnswerRelayOptions;

  constructor(options: AnswerRelayOptions) {
    this.#options = options;
  }

  /**
   * Resolves when the answer is over or its reader has gone.
   *
   * @throws OpenAiFailure, PlatformError while nothing has been sent
   */
  async relay(reply: FastifyReply, exchange: OpenAiExchange): Promise<void> {
    const relaying = new Relaying(reply, exchange, this.#options);
    const following = { watch: exchange.watch, signal: exchange.gone, isOver: () => false, pulseMs: PULSE_MS };
    try {
      for await (const batch of this.#options.stream.follow(exchange.key, FROM_START, following)) {
        await relaying.pass(batch);
      }
    } catch (error) {
      await relaying.fail(error);
    } finally {
      relaying.letGo();
    }
    relaying.end();
  }
}

/** One answer on its way. */
class Relaying {
  readonly #reply: FastifyReply;
  readonly #exchange: OpenAiExchange;
  readonly #options: AnswerRelayOptions;
  readonly #frames = new AnswerFrames();
  #answer: StreamedAnswer | undefined;
  /** For the pieces of a value that is not whole yet. */
  #room: BodyHold | null = null;
  #roomBytes = 0;
  #attempt = 1;
  #queuedAtMs: number;

  constructor(reply: FastifyReply, exchange: OpenAiExchange, options: AnswerRelayOptions) {
    this.#reply = reply;
    this.#exchange = exchange;
    this.#options = options;
    this.#queuedAtMs = options.clock.monotonicMs();
  }

  async pass(batch: StreamBatch): Promise<void> {
    const { chunks, error, next, status } = batch;
    if (next.attempt !== this.#attempt) this.#beginAttempt(next.attempt);
    this.#exchange.isOver = isEnded(status);
    for (const chunk of chunks) await this.#passChunk(chunk);
    const failure = failureOf(status, error);
    if (failure !== null) throw failure;
    if (this.#exchange.isOver) await this.#complete(batch);
    else if (chunks.length === 0) await this.#wait(batch);
  }

  /** @throws what it is given, while nothing has been sent or where it is no failure that a caller may see */
  async fail(error: unknown): Promise<void> {
    const failure = toFailure(error);
    if (failure === null || this.#answer === undefined) throw failure ?? error;
    // An event that the worker left open would swallow ours.
    const gap = this.#frames.isBetweenEvents ? '' : '\n\n';
    await this.#send(gap + encodeEvent({ data: failure.body }));
  }

  end(): void {
    this.#answer?.end();
  }

  /** Nothing that came is kept any longer. */
  letGo(): void {
    this.#room?.release();
    this.#room = null;
    this.#roomBytes = 0;
  }

  async #passChunk(chunk: RawJson): Promise<void> {
    const text = this.#frames.chunk(chunk);
    this.#makeRoom(this.#frames.keptBytes);
    await this.#send(text);
  }

  /** Kept bytes count for the reader's account. @throws PlatformError `service-unavailable` when there is no room */
  #makeRoom(bytes: number): void {
    if (bytes < this.#roomBytes) this.letGo();
    if (bytes === this.#roomBytes) return;
    this.#room ??= this.#options.answers.hold(this.#reply);
    this.#room.grow(bytes - this.#roomBytes);
    this.#roomBytes = bytes;
  }

  /** Frames that went out cannot be taken back, and another attempt would say them again. */
  #beginAttempt(attempt: number): void {
    if (this.#frames.hasBegun) throw workerLost();
    this.#attempt = attempt;
    this.#queuedAtMs = this.#options.clock.monotonicMs();
  }

  /** A handler that is no generator streams nothing and has an output. */
  async #complete({ next }: StreamBatch): Promise<void> {
    const output = next.index > 0 ? null : await this.#options.outputs.read(this.#exchange.key);
    const text = output === null ? '' : this.#frames.output(output);
    await this.#send(text + this.#frames.end());
  }

  async #wait({ status }: StreamBatch): Promise<void> {
    const waitedMs = this.#options.clock.monotonicMs() - this.#queuedAtMs;
    if (status === 'IN_QUEUE' && waitedMs > this.#options.queueWaitMs) throw noWorker();
    if (waitedMs >= PULSE_MS && this.#frames.isBetweenEvents) await this.#send(PING);
  }

  async #send(text: string): Promise<void> {
    this.#answer ??= this.#options.answers.begin(this.#reply, EVENT_STREAM_HEADERS);
    await this.#answer.write(text);
  }
}
