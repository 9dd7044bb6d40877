import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { ConfigError, systemClock } from '@berth/lifecycle';
import { findRecorded, removePidFile, writePidFile } from '@berth/servers';
import { runUrl, baseUrl } from './app-environment.js';
import { chooseRuntime } from './choose-runtime.js';
import { chooseStorage } from './choose-storage.js';
import { inheritedEnvironment, readStackConfig, type StackConfig } from './config.js';
import { curlExample, ensureSampleEndpoint, runFirstJob } from './demo.js';
import { removeDevFile } from './dev-file.js';
import { Progress } from './progress.js';
import { loadOrCreateSecrets } from './stack-secrets.js';
import { choosePorts, type StackPorts } from './stack-ports.js';
import { Stack } from './stack.js';

const STAY_MS = 60_000;
const REPOSITORY = resolve(import.meta.dirname, '../../..');

async function main(): Promise<void> {
  const progress = new Progress(systemClock);
  const config = readStackConfig(process.argv.slice(2), { folder: process.cwd(), repository: REPOSITORY });
  const { runtime, why } = await chooseRuntime(config);
  progress.line(`runtime: ${runtime} (${why})`);
  await claimHome(config.home);
  const ports = await choosePorts(config.ports, config.home);
  const secrets = await loadOrCreateSecrets(config.home);
  const storageBytes = await chooseStorage(config.home);
  const stack = new Stack({
    facts: { config, ports, secrets, runtime, storageBytes },
    repository: REPOSITORY,
    inherited: inheritedEnvironment(),
    progress,
    onGiveUp: (reason) => void end(stack, config, { code: 1, why: reason, progress }),
  });
  // The children are watched without holding this process; it stays until it is told to go.
  systemClock.every(STAY_MS, () => undefined);
  onSignals((signal) => void end(stack, config, { code: 0, why: `${signal}: draining`, progress }));
  try {
    await stack.start();
    if (config.hasDemo) await demonstrate(stack, { ports, apiKey: secrets.apiKey, progress });
    else progress.line(`key: ${secrets.apiKey}\ndocs: ${baseUrl(ports)}/docs`);
  } catch (error) {
    if (isEnding) return;
    await end(stack, config, { code: 1, why: messageOf(error), progress });
  }
}

/**
 * One launcher per home. What one that was killed left running is ended when its successor starts the same process.
 *
 * @throws ConfigError while another launcher lives there
 */
async function claimHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  const pidFile = join(home, 'launcher.pid');
  const other = await findRecorded(pidFile);
  if (other !== undefined) {
    throw new ConfigError([
      `BERTH_HOME: a stack already runs in ${home} (process ${other.pid}). Stop it, or choose another folder.`,
    ]);
  }
  await removeDevFile(home);
  await writePidFile(pidFile, process.pid);
}

async function demonstrate(
  stack: Stack,
  { ports, apiKey, progress }: { readonly ports: StackPorts; readonly apiKey: string; readonly progress: Progress },
): Promise<void> {
  const endpointId = await progress.step('sample endpoint python-echo', () =>
    ensureSampleEndpoint(stack.client, baseUrl(ports)),
  );
  progress.line('… first job: a worker starts; its very first start installs its packages, about half a minute');
  const job = await progress.step('first job, cold start included', () =>
    runFirstJob(stack.client, runUrl(ports), endpointId),
  );
  progress.line(`first job ${job.id}: ${job.status} ${JSON.stringify(job.output)}`);
  progress.line(
    `\nkey:  ${apiKey}\ndocs: ${baseUrl(ports)}/docs\n\n${curlExample(runUrl(ports), endpointId, apiKey)}\n`,
  );
}

let isEnding = false;

async function end(
  stack: Stack,
  config: StackConfig,
  { code, why, progress }: { readonly code: number; readonly why: string; readonly progress: Progress },
): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  progress.line(why);
  process.exitCode = code;
  await removeDevFile(config.home);
  await stack.stop();
  await removePidFile(join(config.home, 'launcher.pid'));
  progress.line('stopped');
  process.exit();
}

function onSignals(act: (signal: NodeJS.Signals) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, act);
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof ConfigError ? error.message : ((error as Error).stack ?? String(error))}\n`);
  process.exit(1);
}
