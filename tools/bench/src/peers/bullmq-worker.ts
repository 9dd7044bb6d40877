import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { runReference } from '../reference-process.js';

/** Answers every job with its input, as many at one time as our own workers do. */
const [, , port = '', concurrency = ''] = process.argv;
const worker = new Worker('jobs', async (job) => ({ echo: job.data as unknown }), {
  connection: new Redis({ port: Number(port), maxRetriesPerRequest: null }),
  concurrency: Number(concurrency),
});
await worker.waitUntilReady();
runReference('', () => worker.close());
