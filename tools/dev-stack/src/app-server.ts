import { join } from 'node:path';
import { spawnServer } from '@berth/servers';
import { findRefusal } from '@berth/telemetry';
import type { AppEnvironment } from './app-environment.js';
import type { AppName, AppProcess } from './app-processes.js';
import { pidFileOf } from './leftovers.js';
import { rootOf } from './process-roots.js';
import type { Running } from './supervisor.js';

const ENTRY: Readonly<Record<AppName, string>> = {
  'management-api': 'apps/management-api/dist/main.js',
  controllers: 'apps/management-api/dist/controllers.main.js',
  'job-router': 'apps/job-router/dist/main.js',
  'worker-agent': 'apps/worker-agent/dist/main.js',
};
const AGENT_STOP_MS = 15_000;
const APP_STOP_MS = 4_000;

export interface AppServerPlace {
  readonly home: string;
  readonly repository: string;
  readonly logFile: string;
  readonly environment: AppEnvironment;
  /** A program with its arguments that runs ours; empty: none. */
  readonly wrapper: readonly string[];
}

/** Starts one process of a program of ours. */
export async function startAppServer(
  { app, name }: AppProcess,
  { environment, home, logFile, repository, wrapper }: AppServerPlace,
): Promise<Running> {
  const drainDelayMs = Number(environment['BERTH_DRAIN_DELAY_MS'] ?? 0);
  const root = rootOf(name, { home, repository });
  const program = [...wrapper, process.execPath, '--enable-source-maps', join(root, ENTRY[app])];
  const [executable = process.execPath, ...args] = program;
  const server = await spawnServer({
    ...{ name, executable, args, folder: home, logFile },
    pidFile: pidFileOf(home, name),
    env: environment,
    stopSignal: 'SIGTERM',
  });
  return {
    pid: server.pid,
    exited: server.exited,
    stop: () => server.stop(app === 'worker-agent' ? AGENT_STOP_MS : APP_STOP_MS + drainDelayMs),
    whyRefused: async () => {
      const refusal = findRefusal(await server.lastWords(), app);
      return refusal === null || refusal.mayPass ? null : refusal.text;
    },
  };
}
