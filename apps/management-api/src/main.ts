import 'reflect-metadata';
import { moreToStopMs } from '@berth/http';
import { runMain, systemProcess } from '@berth/telemetry';
import { startManagementApi } from './compose.js';
import { loadManagementConfig } from './config.js';

await runMain('management-api', async (main) => {
  const config = loadManagementConfig();
  main.allowMore(moreToStopMs(config));
  await startManagementApi(config, systemProcess(main, 'management-api', config));
});
