import type { ConfigReader } from '@berth/lifecycle';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from './logger.js';

export interface LogSettings {
  readonly logLevel: LogLevel;
  readonly logFormat: LogFormat;
}

/** How a process logs: every one reads the same. */
export const readLogSettings = (read: ConfigReader): LogSettings => ({
  logLevel: read.oneOf('BERTH_LOG_LEVEL', 'The least that is logged.', { choices: LOG_LEVELS, fallback: 'info' }),
  logFormat: read.oneOf('BERTH_LOG_FORMAT', '`auto`: a line for people where the output is a terminal, else JSON.', {
    choices: LOG_FORMATS,
    fallback: 'auto',
  }),
});
