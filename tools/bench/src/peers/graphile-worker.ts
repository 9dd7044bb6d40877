import { Logger, run } from 'graphile-worker';
import { runReference } from '../reference-process.js';

/** Answers every job at once, as many at one time as our own workers do. */
const [, , databaseUrl = '', concurrency = ''] = process.argv;
const runner = await run({
  connectionString: databaseUrl,
  concurrency: Number(concurrency),
  maxPoolSize: Number(concurrency),
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  taskList: { job: async () => undefined },
});
runReference('', () => runner.stop());
