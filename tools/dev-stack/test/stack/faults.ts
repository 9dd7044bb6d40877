import { appendFileSync } from 'node:fs';
import { systemClock } from '@berth/lifecycle';
import type { SeededRandom } from '@berth/testing';
import type { HostFault, Standstill } from '@berth/testing/checker';
import type { ProcessName } from '../../src/dev-file.js';
import type { StartedStack } from '../../src/started-stack.js';
import type { Diary } from './diary.js';

export type Fault =
  | {
      readonly kind: 'end';
      readonly signal: 'SIGKILL' | 'SIGTERM';
      readonly target: ProcessName | 'worker';
      readonly afterMs: number;
    }
  | { readonly kind: 'freeze'; readonly target: ProcessName; readonly afterMs: number; readonly forMs: number };

const ROUTERS = ['job-router', 'job-router-2'] as const;

const KILLED = [
  ...ROUTERS,
  'worker-agent',
  'management-api',
  'controllers',
  'nats-server',
  'postgres',
  'worker',
] as const;
/** Past a lease, so that what the frozen process held is given to others. */
const FREEZE_MS = 40_000;
/** Past the life of a claim, so that another router owns the shards when it wakes. */
const LAPSE_MIN_MS = 5_000;
const LAPSE_MAX_MS = 12_000;
const GAP_MIN_MS = 1_500;
const GAP_MAX_MS = 6_000;
/** A job may reach a worker that has just died. */
const UNNOTICED_MS = 1_000;

/**
 * In each round every process is killed, and each router is also told to end, and frozen past the life of its claims. Once,
 * agent and one router are frozen past a lease. Order and instants are the seed's.
 */
export function planFaults(random: SeededRandom, rounds: number): readonly Fault[] {
  const gap = (): number => random.integer(GAP_MIN_MS, GAP_MAX_MS);
  const freeze = (target: ProcessName, forMs: number): Fault => ({ kind: 'freeze', target, afterMs: gap(), forMs });
  const end = (signal: 'SIGKILL' | 'SIGTERM', target: ProcessName | 'worker'): Fault => ({
    ...{ kind: 'end', signal, target },
    afterMs: gap(),
  });
  const ofRound = (): readonly Fault[] => [
    ...KILLED.map((target) => end('SIGKILL', target)),
    ...ROUTERS.map((target) => end('SIGTERM', target)),
    ...ROUTERS.map((target) => freeze(target, random.integer(LAPSE_MIN_MS, LAPSE_MAX_MS))),
  ];
  const once = [freeze('worker-agent', FREEZE_MS), freeze(random.pick(ROUTERS), FREEZE_MS)];
  return [...Array.from({ length: rounds }, ofRound).flat(), ...once]
    .map((fault) => ({ fault, place: random.fraction() }))
    .sort((a, b) => a.place - b.place)
    .map(({ fault }) => fault);
}

/** What was done to the side that jobs may have to pay for. */
export interface HostTroubles {
  readonly faults: readonly HostFault[];
  /** When the agent stood still: what ran then may rightly run again. */
  readonly standstills: readonly Standstill[];
}

export interface InjectOptions {
  readonly stack: StartedStack;
  readonly diary: Diary;
  readonly random: SeededRandom;
  /** One line per fault, kept for a person who looks into a failed run. */
  readonly logFile: string;
}

/** A router that stands still keeps the next faults from nothing; an agent does, so that it is known what it caused. */
export async function injectFaults(faults: readonly Fault[], options: InjectOptions): Promise<HostTroubles> {
  const hostFaults: HostFault[] = [];
  const standstills: Standstill[] = [];
  const frozenRouters: Promise<Standstill>[] = [];
  for (const fault of faults) {
    await systemClock.sleep(fault.afterMs);
    note(fault, options);
    if (fault.kind === 'end') hostFaults.push(...end(fault, options));
    else if (fault.target === 'worker-agent') standstills.push(await freeze(fault, options.stack));
    else frozenRouters.push(freeze(fault, options.stack));
  }
  await Promise.all(frozenRouters);
  return { standstills, faults: [...hostFaults, ...standstills.map((span) => ({ ...span, workerId: null }))] };
}

function note(fault: Fault, { logFile }: InjectOptions): void {
  const what = fault.kind === 'freeze' ? `freeze for ${fault.forMs} ms` : fault.signal;
  appendFileSync(logFile, `${new Date(systemClock.nowMs()).toISOString()} ${what} ${fault.target}\n`);
}

function end({ signal, target }: Fault & { kind: 'end' }, { diary, random, stack }: InjectOptions): HostFault[] {
  const fromMs = systemClock.nowMs();
  const untilMs = fromMs + UNNOTICED_MS;
  if (target !== 'worker') {
    send(stack.pidOf(target), signal);
    return target === 'worker-agent' ? [{ workerId: null, fromMs, untilMs }] : [];
  }
  const workers = diary.liveWorkers();
  if (workers.length === 0) return [];
  const { pid, workerId } = random.pick(workers);
  send(pid, signal);
  return [{ workerId, fromMs, untilMs }];
}

async function freeze(fault: Fault & { kind: 'freeze' }, stack: StartedStack): Promise<Standstill> {
  const pid = stack.pidOf(fault.target);
  const fromMs = systemClock.nowMs();
  send(pid, 'SIGSTOP');
  await systemClock.sleep(fault.forMs);
  send(pid, 'SIGCONT');
  return { fromMs, untilMs: systemClock.nowMs() };
}

/** A process that died a moment ago needs no signal any more. */
function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
