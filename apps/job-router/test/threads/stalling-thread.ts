import { parentPort } from 'node:worker_threads';
import { WebhookAddresses } from '../../src/platform/webhook-addresses.js';
import { answerBody, type RequestBodyAsk } from '../../src/request-bodies/read-body.js';

parentPort?.on('message', (ask: RequestBodyAsk) => {
  if (ask.body.includes('DIE')) process.exit(1);
  if (ask.body.includes('STALL')) return;
  parentPort?.postMessage(answerBody(ask, new WebhookAddresses()));
});
