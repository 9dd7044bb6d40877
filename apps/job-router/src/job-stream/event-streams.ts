import { PlatformError, encodeJson, isEnded, type JobKey } from '@berth/domain';
import type { FastifyReply } from 'fastify';
import type { JobWatch } from '../edge/index.js';
import type { JobReader } from '../jobs/index.js';
import { renderEvents } from './event-rendering.js';
import { EVENT_STREAM_HEADERS, encodeEvent, encodeRetry, type StreamedAnswer, type StreamedAnswers } from '@berth/http';
import type { JobStream } from './job-stream.js';
import type { GivenCursor } from './stream-cursor.js';

/** Silence after which a comment goes out: half of what the more impatient proxies allow. */
const PULSE_MS = 15_000;

/** How long a reader should wait before it connects again. */
const RETRY_MS = 1_000;

export interface EventStreamsOptions {
  readonly stream: JobStream;
  readonly reader: JobReader;
  readonly answers: StreamedAnswers;
}

/** Serves a job's chunks as server-sent events, from any place until the job ends. */
export class EventStreams {
  readonly #stream: JobStream;
  readonly #reader: JobReader;
  readonly #answers: StreamedAnswers;

  constructor({ stream, reader, answers }: EventStreamsOptions) {
    this.#stream = stream;
    this.#reader = reader;
    this.#answers = answers;
  }

  /**
   * Answers the request; resolves when the stream is over. One that ends without a `status` event is to be resumed,
   * here or at another router.
   *
   * @throws PlatformError `job-not-found`, `service-unavailable`, before anything was sent
   */
  async serve(reply: FastifyReply, key: JobKey, cursor: GivenCursor): Promise<void> {
    const watch = this.#reader.watch(key);
    try {
      const job = await this.#reader.read(key);
      if (cursor.isEnd && cursor.attempt === job.attempt && isEnded(job.state)) {
        // The one answer that keeps a browser from connecting again.
        await reply.status(204).removeHeader('content-type').send();
        return;
      }
      const answer = this.#answers.begin(reply, EVENT_STREAM_HEADERS);
      await this.#relay(answer, key, { cursor, watch });
    } finally {
      watch.dispose();
    }
  }

  async #relay(
    answer: StreamedAnswer,
    key: JobKey,
    { cursor, watch }: { readonly cursor: GivenCursor; readonly watch: JobWatch },
  ): Promise<void> {
    const signal = answer.gone;
    const isOver = (): boolean => this.#reader.isOver({ ms: 0, signal });
    try {
      let from: { readonly attempt: number; readonly index: number } = cursor;
      await answer.write(encodeRetry(RETRY_MS));
      for await (const batch of this.#stream.follow(key, from, { watch, signal, isOver, pulseMs: PULSE_MS })) {
        await answer.write(renderEvents(batch, from));
        from = batch.next;
      }
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      // A store that does not answer is a reason to come back; a job that is gone is not.
      if (error.code === 'job-not-found') await answer.write(gone(error));
    }
    answer.end();
  }
}

/** Not named `error`: a browser means a broken connection by that. */
const gone = ({ code, message }: PlatformError): string =>
  encodeEvent({ event: 'problem', data: encodeJson({ code, error: message }) });
