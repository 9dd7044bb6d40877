import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { DataSource } from 'typeorm';
import { createDataSource, type DataSourceOptions } from './data-source.js';

const TRIES = 10;
const RETRY_MS = 200;
const RETRY_MAX_MS = 3_000;

/** A connected source; a database that is still starting is waited for. @throws the last error when it did not come */
export function openDataSource(
  options: DataSourceOptions,
  tools: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): Promise<DataSource> {
  const source = createDataSource(options);
  return retry(() => source.initialize(), {
    clock: tools.clock,
    random: tools.random,
    attemptsMax: TRIES,
    baseDelayMs: RETRY_MS,
    maxDelayMs: RETRY_MAX_MS,
    isRetriable: (error) => {
      tools.logger.warn('the database cannot be reached yet', { error });
      return true;
    },
  });
}
