import { BroadcastChannel, parentPort } from 'node:worker_threads';
import { memoryOf, readPosted, type BodyAsk } from '../../../src/bridge/bodies/read-posted.js';

parentPort?.on('message', (ask: BodyAsk) => {
  const body = Buffer.concat(ask.blocks);
  if (body.includes('DIE')) process.exit(1);
  if (body.includes('STALL')) {
    new BroadcastChannel('stalls').postMessage(null);
    return;
  }
  const answer = readPosted(ask);
  parentPort?.postMessage(answer, memoryOf(answer));
});
