import type { Logger } from './logger.js';

/**
 * The contexts in which the framework logs while it wires the application: of use only to somebody who debugs the
 * wiring.
 */
const WIRING: ReadonlySet<string> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'NestMicroservice',
  'RouterExplorer',
  'RoutesResolver',
]);

/** The framework's own messages in our lines. Shaped as its `LoggerService`, without depending on it. */
export class NestLogger {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  log(message: unknown, ...rest: unknown[]): void {
    const room = roomOf(rest);
    if (WIRING.has(room)) this.#logger.debug(textOf(message), { room });
    else this.#logger.info(textOf(message), { room });
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.#logger.warn(textOf(message), { room: roomOf(rest) });
  }

  error(message: unknown, ...rest: unknown[]): void {
    const stack = rest.length > 1 ? rest[0] : undefined;
    const error = message instanceof Error ? message : stack;
    this.#logger.error(textOf(message), { room: roomOf(rest), ...(error === undefined ? {} : { error }) });
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.#logger.fatal(textOf(message), { room: roomOf(rest) });
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.#logger.debug(textOf(message), { room: roomOf(rest) });
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.#logger.trace(textOf(message), { room: roomOf(rest) });
  }
}

const roomOf = (rest: readonly unknown[]): string => {
  const last = rest.at(-1);
  return typeof last === 'string' ? last : 'nest';
};

const textOf = (message: unknown): string => {
  if (typeof message === 'string') return message;
  return message instanceof Error ? message.message : JSON.stringify(message);
};
