import { readFile } from 'node:fs/promises';
import type { ProcessName, StartedStack } from '@berth/dev-stack';
import { systemClock } from '@berth/lifecycle';
import { runCommand } from '@berth/servers';
import { request } from 'undici';

const WATCHED = [
  'job-router',
  'nats-server',
  'controllers',
  'management-api',
] as const satisfies readonly ProcessName[];
const PS_TIMEOUT_MS = 5_000;
const METRICS_TIMEOUT_MS = 60_000;
const MIB_IN_KIB = 1_024;

/** How the processes of a stack do, over a stretch of time. */
export interface Vital {
  readonly name: ProcessName;
  readonly residentMib: number;
  /** Share of one core. */
  readonly cpu: number;
  /** Longest stall of its event loop; null where it has none. */
  readonly stallMs: number | null;
}

/** Begins to watch; what is returned ends it. */
export async function watchVitals(stack: StartedStack): Promise<() => Promise<readonly Vital[]>> {
  const before = await readAll(stack);
  const beganAtMs = systemClock.monotonicMs();
  return async () => {
    const after = await readAll(stack);
    const seconds = (systemClock.monotonicMs() - beganAtMs) / 1_000;
    return after.map(({ name, cpuSeconds, residentMib, stallMs }, order) => ({
      name,
      residentMib,
      cpu: (cpuSeconds - (before[order]?.cpuSeconds ?? 0)) / seconds,
      stallMs,
    }));
  };
}

interface Reading extends Pick<Vital, 'name' | 'residentMib' | 'stallMs'> {
  readonly cpuSeconds: number;
}

const readAll = (stack: StartedStack): Promise<readonly Reading[]> =>
  Promise.all(WATCHED.map((name) => readVital(stack, name)));

/** How much it has used so far. */
export async function readVital(stack: StartedStack, name: ProcessName): Promise<Reading> {
  const line = await runCommand('ps', ['-o', 'rss=,time=', '-p', String(stack.pidOf(name))], {
    timeoutMs: PS_TIMEOUT_MS,
  });
  const [kib = '', cpuTime = ''] = line.trim().split(/\s+/);
  const stallSeconds = await readMetric(stack, name, 'berth_nodejs_eventloop_lag_max_seconds');
  return {
    name,
    residentMib: Number(kib) / MIB_IN_KIB,
    cpuSeconds: secondsOf(cpuTime),
    stallMs: stallSeconds === null ? null : stallSeconds * 1_000,
  };
}

/** `[days-]hours:minutes:seconds` */
const secondsOf = (cpuTime: string): number =>
  cpuTime
    .split(/[-:]/)
    .toReversed()
    .reduce((sum, part, order) => sum + Number(part) * ([1, 60, 3_600, 86_400][order] ?? 0), 0);

/** A metric of a process of ours, all its series together; null where there is none of that name. */
export async function readMetric({ dev }: StartedStack, name: ProcessName, metric: string): Promise<number | null> {
  const operations = dev.operations[name];
  if (operations === undefined) return null;
  const { body } = await request(`${operations}/metrics`, { headersTimeout: METRICS_TIMEOUT_MS });
  const isOfIt = (line: string): boolean => line.startsWith(`${metric} `) || line.startsWith(`${metric}{`);
  const lines = (await body.text()).split('\n').filter(isOfIt);
  return lines.length === 0 ? null : lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** What it has had of a processor since it began, and how long it waited for one: on a busy machine that is most of the time. */
export async function mainThreadOf(pid: number): Promise<string> {
  const [ranNs, waitedNs] = (await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ').map(Number);
  const seconds = (ns: number | undefined): string => ((ns ?? Number.NaN) / 1e9).toFixed(1);
  return `its main thread ran for ${seconds(ranNs)} s and waited ${seconds(waitedNs)} s for a core`;
}
