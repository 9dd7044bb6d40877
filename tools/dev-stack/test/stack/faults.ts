import { appendFileSync } from 'node:fs';
import { systemClock } from '@berth/lifecycle';
import type { SeededRandom } from '@berth/testing';
import type { ProcessName } from '../../src/dev-file.js';
import type { Diary } from './diary.js';
import type { StartedStack } from '../../src/started-stack.js';

export type Fault =
  | { readonly kind: 'kill'; readonly target: ProcessName | 'worker'; readonly afterMs: number }
  | { readonly kind: 'freeze'; readonly target: ProcessName; readonly afterMs: number; readonly forMs: number };

/** Past the lease, so that what the frozen process held is given to others. */
const FREEZE_MS = 40_000;
const GAP_MIN_MS = 1_500;
const GAP_MAX_MS = 6_000;
const KILLED = [
  'job-router',
  'worker-agent',
  'management-api',
  'controllers',
  'nats-server',
  'postgres',
  'worker',
] as const;

/** Every process is killed `rounds` times and agent and router are frozen once, in an order and at instants of the seed. */
export function planFaults(random: SeededRandom, rounds: number): readonly Fault[] {
  const gap = (): number => random.integer(GAP_MIN_MS, GAP_MAX_MS);
  const kills: Fault[] = Array.from({ length: rounds }, () => KILLED)
    .flat()
    .map((target) => ({ kind: 'kill', target, afterMs: gap() }));
  const freezes: Fault[] = (['worker-agent', 'job-router'] as const).map((target) => ({
    kind: 'freeze',
    target,
    afterMs: gap(),
    forMs: FREEZE_MS,
  }));
  return [...kills, ...freezes]
    .map((fault) => ({ fault, place: random.fraction() }))
    .sort((a, b) => a.place - b.place)
    .map(({ fault }) => fault);
}

/** When the agent stood still: what ran then may rightly run again. */
export interface FrozenSpan {
  readonly target: ProcessName;
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface InjectOptions {
  readonly stack: StartedStack;
  readonly diary: Diary;
  readonly random: SeededRandom;
  /** One line per fault, kept for whoever looks into a failed run. */
  readonly logFile: string;
}

export async function injectFaults(faults: readonly Fault[], options: InjectOptions): Promise<readonly FrozenSpan[]> {
  const frozen: FrozenSpan[] = [];
  for (const fault of faults) {
    await systemClock.sleep(fault.afterMs);
    appendFileSync(options.logFile, `${new Date(systemClock.nowMs()).toISOString()} ${fault.kind} ${fault.target}\n`);
    if (fault.kind === 'kill') kill(fault.target, options);
    else frozen.push(await freeze(fault, options.stack));
  }
  return frozen;
}

function kill(target: ProcessName | 'worker', { stack, diary, random }: InjectOptions): void {
  const pids = target === 'worker' ? diary.livePids() : [stack.pidOf(target)];
  if (pids.length > 0) signal(random.pick(pids), 'SIGKILL');
}

async function freeze(fault: Fault & { kind: 'freeze' }, stack: StartedStack): Promise<FrozenSpan> {
  const pid = stack.pidOf(fault.target);
  const fromMs = systemClock.nowMs();
  signal(pid, 'SIGSTOP');
  await systemClock.sleep(fault.forMs);
  signal(pid, 'SIGCONT');
  return { target: fault.target, fromMs, untilMs: systemClock.nowMs() };
}

/** A process that died a moment ago needs no signal any more. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
