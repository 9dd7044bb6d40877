import { resolve } from 'node:path';
import { formatEngineAddress } from '@berth/domain';
import { ConfigError, systemClock } from '@berth/lifecycle';
import { asksForHelp, usage } from '../settings.mjs';
import { runUrl, baseUrl } from './app-environment.js';
import { chooseRuntime, describeEngine } from './choose-runtime.js';
import {
  engineSettings,
  ineffectiveSettings,
  inheritedEnvironment,
  isStartedByNpm,
  readStackConfig,
  type StackConfig,
} from './config.js';
import { curlExample, ensureSampleEndpoint, runFirstJob } from './demo.js';
import { assertOutsideServers } from './outside-servers.js';
import { Progress } from './progress.js';
import { prepareHome, releaseHome } from './stack-home.js';
import type { StackPorts } from './stack-ports.js';
import { Stack } from './stack.js';
import { watchStarter } from './watch-starter.js';

const STAY_MS = 60_000;
const REPOSITORY = resolve(import.meta.dirname, '../../..');

async function main(): Promise<void> {
  const starterPid = process.ppid;
  if (asksForHelp(process.argv.slice(2))) {
    process.stdout.write(usage());
    return;
  }
  outliveReaders();
  const progress = new Progress(systemClock);
  const config = readStackConfig(process.argv.slice(2), { folder: process.cwd(), repository: REPOSITORY });
  for (const sentence of ineffectiveSettings()) progress.line(`! ${sentence}`);
  const choice = await chooseRuntime(config, engineSettings());
  const { runtime, why } = choice;
  progress.line(`runtime: ${runtime} (${why})`);
  const engine = choice.engine === undefined ? null : formatEngineAddress(choice.engine.address);
  if (engine !== null) progress.line(describeEngine(choice));
  await assertOutsideServers(config);
  const state = await prepareHome(config);
  const { ports, secrets } = state;
  const stack = new Stack({
    facts: { config, runtime, engine, ...state },
    repository: REPOSITORY,
    inherited: inheritedEnvironment(),
    progress,
    onGiveUp: (reason) => void end(stack, config, { code: 1, why: reason, progress }),
  });
  // The children are watched without holding this process; it stays until it is told to go.
  systemClock.every(STAY_MS, () => undefined);
  const drain = (cause: string): void => void end(stack, config, { code: 0, why: `${cause}: draining`, progress });
  onSignals(drain);
  if (isStartedByNpm(REPOSITORY)) {
    watchStarter({
      clock: systemClock,
      starterPid,
      parentPid: () => process.ppid,
      onGone: () => {
        drain('npm has ended');
      },
    });
  }
  try {
    await stack.start();
    if (config.hasDemo) await demonstrate(stack, { ports, apiKey: secrets.apiKey, progress });
    else progress.line(`key: ${secrets.apiKey}\ndocs: ${baseUrl(ports)}/docs`);
  } catch (error) {
    if (isEnding) return;
    await end(stack, config, { code: 1, why: messageOf(error), progress });
  }
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
  if (code === 0) progress.line(why);
  else process.stderr.write(`${why}\n`);
  process.exitCode = code;
  await stack.stop();
  await releaseHome(config.home);
  progress.line('stopped');
  process.exit();
}

/** A terminal or a pipe that has gone must not keep the rest from being stopped in order. */
function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
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
