/**
 * What `npm run log` runs: the job router's own tool, which is told of the stack that `npm start` runs on this machine
 * unless the environment names a broker.
 */
import { resolve } from 'node:path';
import { devBrokerSettings } from '../dev-stack/dist/dev-broker.js';

const repository = resolve(import.meta.dirname, '../..');
const home = resolve(process.env.BERTH_HOME || resolve(repository, '.berth'));

if (!process.env.BERTH_NATS_URL) Object.assign(process.env, await devBrokerSettings(home));

await import('../../apps/job-router/dist/log.main.js');
