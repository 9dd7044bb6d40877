import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { FastifyRequest } from 'fastify';
import { findCaller } from '../auth/access.decorator.js';
import { StrangersLines } from '../callers/strangers-lines.js';

type Lines = Pick<Logger, 'debug' | 'warn' | 'error'>;
type Write = Lines['debug'];

/** The log, as far as requests may write into it: callers with a key as they like, all others some lines a second. */
export class RequestLines {
  readonly #logger: Logger;
  /** For requests of which nobody knows whose they are. */
  readonly strangers: Lines;

  constructor(logger: Logger, clock: Pick<Clock, 'monotonicMs'>) {
    const limited =
      (room: StrangersLines, write: Write): Write =>
      (message, fields = {}) => {
        const besides = room.take(clock.monotonicMs());
        if (besides !== null) write(message, { ...fields, ...besides });
      };
    // Lines that are not written at all must not take the room of those that are.
    const [quiet, loud] = [new StrangersLines(), new StrangersLines()];
    this.#logger = logger;
    this.strangers = {
      debug: limited(quiet, (...said) => logger.debug(...said)),
      warn: limited(loud, (...said) => logger.warn(...said)),
      error: limited(loud, (...said) => logger.error(...said)),
    };
  }

  of(request: FastifyRequest): Lines {
    return findCaller(request) === undefined ? this.strangers : this.#logger;
  }
}
