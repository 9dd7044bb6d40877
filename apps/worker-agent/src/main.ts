import { runMain } from '@berth/telemetry';
import { startAgent } from './app.module.js';
import { loadAgentConfig } from './config.js';

await runMain('worker-agent', (main) => startAgent(loadAgentConfig(), main));
