import { parentPort, workerData } from 'node:worker_threads';
import { answerBody, type RequestBodyAsk } from './read-body.js';
import { WebhookAddresses } from '../platform/index.js';

const webhooks = new WebhookAddresses(workerData as readonly string[]);

/** Entry of the thread that reads large bodies, one after the other. */
parentPort?.on('message', (ask: RequestBodyAsk) => parentPort?.postMessage(answerBody(ask, webhooks)));
