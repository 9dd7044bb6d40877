import type { IncomingMessage, ServerResponse } from 'node:http';
import { PlatformError, type LeastRate } from '@berth/domain';
import { ByteBlocks, type Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import type { FastifyRequest } from 'fastify';
import { findCaller } from '../auth/access.decorator.js';
import { bodyMetrics, type BodyMetrics } from '../metrics.js';
import { BodyBudget, type BodyHold } from './body-budget.js';
import { keepRoom } from './body-rooms.js';
import { ContinueRequests } from './continue-requests.js';
import { LeastRateWatch } from './least-rate-watch.js';

/** 128 kbit/s: the largest body takes some 20 minutes over such a line, and who sends less than that holds others up. */
const ARRIVAL_RATE: LeastRate = { bytesPerSecond: 16 * 1024, graceMs: 10_000, aheadMaxMs: 30_000 };

/** The bytes that are read and thrown away of a refused body whose sender has a good key. */
const LEFT_OVER_MAX_BYTES = 64 * 1024 ** 2;

/** The same of a sender without one, who gets this time for it at whatever rate. */
const STRANGERS_LEFT_OVER_MAX_BYTES = 1024 ** 2;
const STRANGERS_LEFT_OVER_TIME: LeastRate = {
  bytesPerSecond: Number.POSITIVE_INFINITY,
  graceMs: 5_000,
  aheadMaxMs: 5_000,
};

export interface ArrivingBodiesOptions {
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}

/** Reads bodies as they come, and no faster than there is room; what is refused is thrown away, within bounds. */
export class ArrivingBodies {
  readonly expectations = new ContinueRequests();
  readonly #budget = new BodyBudget();
  readonly #thrownAway = new WeakSet<IncomingMessage>();
  readonly #passages: LeastRateWatch;
  readonly #metrics: BodyMetrics;
  #comeBytes = 0;

  constructor({ clock, metrics }: ArrivingBodiesOptions) {
    this.#passages = new LeastRateWatch(clock);
    this.#metrics = bodyMetrics(metrics, {
      comeBytes: () => this.#comeBytes,
      roomBytes: () => this.#budget.takenBytes,
    });
  }

  /**
   * All of the body as text, whose room stays taken until its request is answered or its handler has let go of it.
   *
   * @throws PlatformError `body-too-large`, `request-timeout` of one that comes too slowly, `service-unavailable` when
   * there is no room for it, `body-not-json` when it is no text; Error when it breaks off
   */
  async read(request: FastifyRequest, answer: ServerResponse): Promise<string> {
    const hold = this.#budget.hold(findCaller(request)?.accountId ?? null);
    try {
      hold.requireRoomFor(Number(request.headers['content-length'] ?? 0));
      this.expectations.tellToGoOn(request.raw);
      const text = decode(await this.#collect(request, hold));
      keepRoom(request, answer, hold);
      return text;
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  #collect({ raw, routeOptions }: FastifyRequest, hold: BodyHold): Promise<Buffer> {
    const maxBytes = routeOptions.bodyLimit ?? 0;
    const blocks = new ByteBlocks();
    let bytes = 0;
    return new Promise((resolve, reject) => {
      const passage = this.#passages.follow(ARRIVAL_RATE, () => {
        this.#metrics.cut.inc({ reason: 'too-slow' });
        end(new PlatformError('request-timeout', TOO_SLOW));
      });
      const take = (chunk: Buffer): void => {
        bytes += chunk.length;
        this.#comeBytes += chunk.length;
        passage.moved(chunk.length);
        if (bytes > maxBytes) throw new PlatformError('body-too-large', 'The body is larger than this path accepts.');
        hold.grow(blocks.add(chunk));
      };
      const onData = (chunk: Buffer): void => {
        try {
          take(chunk);
        } catch (error) {
          end(error as Error);
        }
      };
      const onEnd = (): void => {
        end(null);
      };
      const onClose = (): void => {
        end(new Error('The request broke off.'));
      };
      const end = (error: Error | null): void => {
        passage.done();
        this.#comeBytes -= bytes;
        raw.off('data', onData).off('end', onEnd).off('error', end).off('close', onClose);
        if (error === null) resolve(Buffer.concat(blocks.take(), bytes));
        else reject(error);
      };
      raw.on('data', onData).on('end', onEnd).on('error', end).on('close', onClose);
      raw.resume();
    });
  }

  /** A caller that sends more of a refused body, or for longer, than is thrown away is cut off. */
  throwAway(request: FastifyRequest): void {
    const { raw } = request;
    if (this.#thrownAway.has(raw)) return;
    this.#thrownAway.add(raw);
    const isStranger = findCaller(request) === undefined;
    const cut = (): void => {
      this.#metrics.cut.inc({ reason: 'left-over' });
      raw.socket.destroy();
    };
    const passage = this.#passages.follow(isStranger ? STRANGERS_LEFT_OVER_TIME : ARRIVAL_RATE, cut);
    let leftBytes = isStranger ? STRANGERS_LEFT_OVER_MAX_BYTES : LEFT_OVER_MAX_BYTES;
    raw.on('data', (chunk: Buffer) => {
      passage.moved(chunk.length);
      leftBytes -= chunk.length;
      if (leftBytes < 0) cut();
    });
    const { socket } = raw;
    const done = (): void => {
      socket.off('close', done);
      passage.done();
    };
    raw.once('end', done).once('close', done);
    socket.once('close', done);
  }
}

const TOO_SLOW = `The body came more slowly than ${String(ARRIVAL_RATE.bytesPerSecond / 1024)} KiB a second.`;

/** A byte sequence that is no text would be changed silently by a forgiving decoder. */
function decode(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new PlatformError('body-not-json', 'The body is not UTF-8 text.', { cause: error });
  }
}
