import { runMain } from '@berth/telemetry';
import { startAgent } from './compose.js';
import { loadAgentConfig } from './config.js';

await runMain('worker-agent', (main) => startAgent(loadAgentConfig(), main));
