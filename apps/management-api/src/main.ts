import 'reflect-metadata';
import { runMain } from '@berth/telemetry';
import { loadManagementConfig } from './config.js';
import { startManagementApi } from './compose.js';

await runMain('management-api', async (main) => {
  await startManagementApi(loadManagementConfig(), main);
});
