import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { baseUrl, localUrl, runUrl, type StackFacts } from './app-environment.js';
import { appProcesses } from './app-processes.js';

const OWNER_ONLY = 0o600;

/**
 * Writes `operator.env` into the home: what the command `berth` is told of this stack, as `berth init` tells it of an
 * installation. An outside broker does not know our keys; its address carries its own credentials.
 */
export async function writeOperatorFile(facts: StackFacts): Promise<void> {
  const path = join(facts.config.home, 'operator.env');
  const lines = Object.entries(operatorVariables(facts)).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(`${path}.new`, lines.join(''), { mode: OWNER_ONLY });
  await rename(`${path}.new`, path);
}

function operatorVariables(facts: StackFacts): Readonly<Record<string, string>> {
  const { config, databaseUrl, natsUrl, ports, secrets } = facts;
  const { controllers, managementApi, routers } = appProcesses(ports);
  const operations = [managementApi, controllers, ...routers].map(({ operationsPort }) => localUrl(operationsPort));
  return {
    BERTH_NATS_URL: natsUrl,
    ...(config.natsUrl === null && { BERTH_NATS_SEED: secrets.nats.roles.operator }),
    BERTH_DATABASE_URL: databaseUrl,
    BERTH_BASE_URL: baseUrl(ports),
    BERTH_RUN_URL: runUrl(ports),
    BERTH_AGENT_NATS_URL: natsUrl,
    BERTH_OPERATIONS_URLS: operations.join(','),
    BERTH_API_KEY: secrets.apiKey,
  };
}
