import 'reflect-metadata';
import { runMain, systemProcess } from '@berth/telemetry';
import { startRouter } from './compose.js';
import { loadConfig } from './config.js';

await runMain('job-router', async (main) => {
  const config = loadConfig();
  await startRouter(config, systemProcess(main, 'job-router', config));
});
