import type { Writable } from 'node:stream';
import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger as Pino } from 'pino';
import { formatLine, type PinoEntry } from './line-format.js';
import { currentLogContext } from './log-context.js';
import { redact, redactText } from './redact.js';

/** `trace` says what `debug` says, and what the framework says at length. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `auto`: a line for people where the output is a terminal, else JSON. */
export const LOG_FORMATS = ['auto', 'json', 'line'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** An `error` member is shown with its stack and its causes. Secret members are redacted by name. */
export type LogFields = Readonly<Record<string, unknown>>;

export interface Logger {
  trace(message: string, fields?: LogFields): void;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  fatal(message: string, fields?: LogFields): void;
  /** A logger whose lines all carry these fields. */
  child(fields: LogFields): Logger;
}

export interface LoggerOptions {
  /** The process as people call it: `job-router`. */
  readonly name: string;
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Where lines go; standard output when it is not given. */
  readonly output?: Writable;
}

/** Lines carry time, level, process name, message, and the ids of the work that runs (`runWithLogContext`). */
export function createLogger({ name, level, format, output }: LoggerOptions): Logger {
  const isTerminal = output === undefined && process.stdout.isTTY;
  const isLine = format === 'line' || (format === 'auto' && isTerminal);
  const stream = isLine ? lineStream(output ?? process.stdout, isTerminal) : jsonStream(output);
  const options = { name, level, base: { pid: process.pid }, timestamp: stdTimeFunctions.epochTime };
  // A copy: pino writes the line's own fields into what it is given here, and the context goes on after the line.
  return wrap(pino({ ...options, mixin: () => ({ ...currentLogContext() }) }, stream));
}

/** Written at once: the last line before a crash is the one that matters. */
const jsonStream = (output: Writable | undefined): DestinationStream => output ?? destination({ dest: 1, sync: true });

const lineStream = (output: Writable, isColored: boolean): DestinationStream => ({
  write: (text) => {
    output.write(formatLine(JSON.parse(text) as PinoEntry, isColored));
  },
});

function wrap(inner: Pino): Logger {
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}): void => {
      if (inner.isLevelEnabled(level)) inner[level](redact(fields), redactText(message));
    };
  return {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    fatal: at('fatal'),
    child: (fields) => wrap(inner.child(redact(fields) as Record<string, unknown>)),
  };
}

/** For tests and tools that have nothing to say. */
export const silentLogger: Logger = wrap(pino({ enabled: false }));
