import 'reflect-metadata';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { createLogger, runMain } from '@berth/telemetry';
import { loadConfig } from './config.js';
import { startRouter } from './compose.js';

await runMain('job-router', async (main) => {
  const config = loadConfig();
  const logger = createLogger({ name: 'job-router', level: config.logLevel, format: config.logFormat });
  main.logTo(logger);
  await startRouter(config, {
    clock: systemClock,
    random: systemRandom,
    logger,
    onStop: (name, stop) => {
      main.onStop(name, stop);
    },
  });
});
