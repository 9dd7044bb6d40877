import 'reflect-metadata';
import { HTTP_DRAIN_MS } from '@berth/http';
import { runMain, systemProcess } from '@berth/telemetry';
import { startRouter } from './compose.js';
import { loadConfig } from './config.js';

await runMain('job-router', async (main) => {
  const config = loadConfig();
  main.allowMore(config.drainMs - HTTP_DRAIN_MS);
  await startRouter(config, systemProcess(main, 'job-router', config));
});
