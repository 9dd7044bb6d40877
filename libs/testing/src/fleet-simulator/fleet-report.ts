import { ACCOUNT_LIMITS_DEFAULT } from '@berth/domain';
import { GREEDY_ACCOUNT } from './fleet-world.js';
import { simulateFleet, type FleetOutcome, type FleetScenario } from './simulate-fleet.js';

export const FLEET_SCENARIOS = {
  /** A day of 500 hosts. */
  day: {
    seed: 1,
    hosts: 500,
    endpoints: 2_000,
    accounts: 50,
    hours: 24,
    passMs: 10_000,
    badHostOneIn: 100,
    silentHostOneIn: 10,
  },
  /** The same in small, for a test. */
  hours: {
    seed: 1,
    hosts: 40,
    endpoints: 160,
    accounts: 8,
    hours: 2,
    passMs: 4_000,
    badHostOneIn: 20,
    silentHostOneIn: 4,
  },
} as const satisfies Readonly<Record<string, BaseScenario>>;

type BaseScenario = Omit<FleetScenario, 'hasGreedyNeighbour' | 'accountLimits'>;

interface FleetFigures {
  readonly jobs: number;
  readonly unstarted: number;
  readonly waitP50Ms: number;
  readonly waitP99Ms: number;
  readonly gpus: number;
  readonly workersMax: number;
  readonly gpuHoursHeld: number;
  /** With workers that start at once and are never idle. */
  readonly gpuHoursIdeal: number;
  /** The same of workers without a GPU. */
  readonly vcpuHoursHeld: number;
  readonly vcpuHoursIdeal: number;
  readonly jobsPerStart: number;
  readonly movesPerThousandStarts: number;
  readonly lostPerThousandStarts: number;
}

/** What a neighbour does to the account that it does most to. */
interface NeighbourEffect {
  readonly account: string;
  readonly meanWaitMs: number;
  readonly meanWaitBesideMs: number;
}

export interface FleetReport {
  readonly scenario: BaseScenario;
  readonly quiet: FleetFigures;
  /** Beside an account that wants a thousand workers in bursts. */
  readonly greedy: FleetFigures & { readonly worstNeighbour: NeighbourEffect };
  /** The same, with a quarter of the GPUs as its limit. */
  readonly limited: FleetFigures & { readonly worstNeighbour: NeighbourEffect };
}

/** Three runs of one scenario: as it is, beside a greedy neighbour, and beside one that has a limit. */
export function reportFleet(scenario: BaseScenario): FleetReport {
  const quiet = simulateFleet({ ...scenario, hasGreedyNeighbour: false, accountLimits: new Map() });
  const greedy = simulateFleet({ ...scenario, hasGreedyNeighbour: true, accountLimits: new Map() });
  const limit = { ...ACCOUNT_LIMITS_DEFAULT, gpus: Math.max(1, Math.floor(quiet.gpus / 4)) };
  const accountLimits = new Map([[GREEDY_ACCOUNT, limit]]);
  const limited = simulateFleet({ ...scenario, hasGreedyNeighbour: true, accountLimits });
  return {
    scenario,
    quiet: figuresOf(quiet),
    greedy: { ...figuresOf(greedy), worstNeighbour: worstNeighbour(quiet, greedy) },
    limited: { ...figuresOf(limited), worstNeighbour: worstNeighbour(quiet, limited) },
  };
}

/** Waits are those of everybody but the greedy account. */
function figuresOf(outcome: FleetOutcome): FleetFigures {
  const { gpus, lost, moves, starts, unstarted, workersMax } = outcome;
  const perThousandStarts = (count: number): number => rounded((1_000 * count) / Math.max(1, starts));
  const inHours = (ms: number): number => rounded(ms / HOUR_MS);
  const all = [...outcome.waitsMs.values()].reduce((sum, waits) => sum + waits.length, 0);
  const waits = [...outcome.waitsMs]
    .flatMap(([accountId, theirs]) => (accountId === GREEDY_ACCOUNT ? [] : theirs))
    .toSorted((a, b) => a - b);
  return {
    ...{ jobs: all, unstarted, gpus, workersMax },
    waitP50Ms: percentile(waits, 0.5),
    waitP99Ms: percentile(waits, 0.99),
    gpuHoursHeld: inHours(outcome.heldGpuMs),
    gpuHoursIdeal: inHours(outcome.usedGpuMs),
    vcpuHoursHeld: inHours(outcome.heldVcpuMs),
    vcpuHoursIdeal: inHours(outcome.usedVcpuMs),
    jobsPerStart: rounded(all / Math.max(1, starts)),
    movesPerThousandStarts: perThousandStarts(moves),
    lostPerThousandStarts: perThousandStarts(lost),
  };
}

function worstNeighbour(quiet: FleetOutcome, beside: FleetOutcome): NeighbourEffect {
  const effects = [...quiet.waitsMs].map(([account, waits]) => ({
    ...{ account, meanWaitMs: mean(waits), meanWaitBesideMs: mean(beside.waitsMs.get(account) ?? []) },
  }));
  const extra = ({ meanWaitBesideMs, meanWaitMs }: NeighbourEffect): number => meanWaitBesideMs - meanWaitMs;
  const [worst] = effects.toSorted((a, b) => extra(b) - extra(a) || compareText(a.account, b.account));
  return worst ?? { account: '', meanWaitMs: 0, meanWaitBesideMs: 0 };
}

const HOUR_MS = 3_600_000;

const percentile = (ascending: readonly number[], share: number): number =>
  ascending[Math.min(ascending.length - 1, Math.floor(share * ascending.length))] ?? 0;

const mean = (numbers: readonly number[]): number =>
  Math.round(numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length));

const rounded = (value: number): number => Math.round(value * 10) / 10;

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
