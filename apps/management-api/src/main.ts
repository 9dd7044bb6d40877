import 'reflect-metadata';
import { runMain } from '@berth/telemetry';
import { loadConfig } from './config.js';
import { startManagementApi } from './start-management-api.js';

await runMain('management-api', async (main) => {
  await startManagementApi(loadConfig(), main);
});
