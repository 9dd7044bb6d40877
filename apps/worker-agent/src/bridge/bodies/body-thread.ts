import { parentPort } from 'node:worker_threads';
import { memoryOf, readPosted, type BodyAsk } from './read-posted.js';

/** Entry of the thread that reads large bodies, one after the other. */
parentPort?.on('message', (ask: BodyAsk) => {
  const answer = readPosted(ask);
  parentPort?.postMessage(answer, memoryOf(answer));
});
