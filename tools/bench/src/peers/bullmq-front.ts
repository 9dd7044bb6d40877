import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { serveFront } from './front.js';

/** Accepts jobs into BullMQ and tells how many have ended. */
const [, , port = ''] = process.argv;
const queue = new Queue('jobs', { connection: new Redis({ port: Number(port), maxRetriesPerRequest: null }) });

await serveFront({
  add: async (body) => String((await queue.add('job', body)).id),
  completed: () => queue.getCompletedCount(),
  close: () => queue.close(),
});
