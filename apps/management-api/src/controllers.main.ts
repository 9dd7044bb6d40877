import 'reflect-metadata';
import { runMain, systemProcess } from '@berth/telemetry';
import { loadControllersConfig, startControllers } from './controllers/index.js';

await runMain('controllers', async (main) => {
  const config = loadControllersConfig();
  await startControllers(config, systemProcess(main, 'controllers', config));
});
