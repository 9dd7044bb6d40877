import { runMain, systemProcess } from '@berth/telemetry';
import { startAgent } from './compose.js';
import { loadAgentConfig } from './config.js';

await runMain('worker-agent', async (main) => {
  const config = loadAgentConfig();
  await startAgent(config, systemProcess(main, 'worker-agent', config));
});
