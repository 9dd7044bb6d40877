import { Logger, run } from 'graphile-worker';
import { runReference } from '../reference-process.js';

/**
 * Answers every job at once, as many at one time as our own workers do. Jobs are fetched and completed in batches, with a
 * small pool, as its documents advise for throughput.
 */
const POOL_SIZE = 10;
const [, , databaseUrl = '', concurrency = ''] = process.argv;
const runner = await run({
  connectionString: databaseUrl,
  concurrency: Number(concurrency),
  maxPoolSize: POOL_SIZE,
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
  taskList: { job: async () => undefined },
});
runReference('', () => runner.stop());
