import 'reflect-metadata';
import { moreToStopMs } from '@berth/http';
import { runMain, systemProcess } from '@berth/telemetry';
import { startRouter } from './compose.js';
import { loadConfig } from './config.js';

await runMain('job-router', async (main) => {
  const config = loadConfig();
  main.allowMore(moreToStopMs(config));
  await startRouter(config, systemProcess(main, 'job-router', config));
});
