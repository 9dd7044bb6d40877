import { PlatformError } from '@berth/domain';
import type { WriteOutcome } from '@berth/jobs';
import type { Gate } from './model-store.js';
import type { Owner, World } from './world.js';

export interface Faults {
  /** Share of steps at which the process that steps dies, before or after its effect. */
  readonly crash: number;
  /** Share of calls that the store refuses. */
  readonly unavailable: number;
  /** Share of record writes whose answer is lost; the write may have happened, happen later, or never. */
  readonly lostAnswer: number;
}

export const NO_FAULTS: Faults = { crash: 0, unavailable: 0, lostAnswer: 0 };

interface GateOptions {
  readonly world: World;
  readonly owner: Owner;
  readonly faults: () => Faults;
  /** Ends the process of this owner and brings up its successor. */
  readonly crash: () => void;
  /** Stands for messages still on their way when their sender has given up. */
  readonly network: Owner;
}

/** A gate at which a process may die between any two effects, and at which the store may fail or stay silent. */
export function faultyGate({ world, owner, faults, crash, network }: GateOptions): Gate {
  const pass = async (): Promise<void> => {
    await world.step(owner);
    if (!world.random.chance(faults().crash)) return;
    crash();
    await new Promise<never>(() => undefined);
  };
  const attempt = async <T>(effect: () => T): Promise<T> => {
    await pass();
    if (world.random.chance(faults().unavailable)) throw new PlatformError('service-unavailable', 'simulated');
    const result = effect();
    await pass();
    return result;
  };
  const loseAnswer = (effect: () => WriteOutcome): WriteOutcome => {
    const fate = world.random.pick(['done', 'later', 'never'] as const);
    if (fate === 'done') effect();
    if (fate === 'later') void world.sleep(network, world.random.integer(0, LATE_WRITE_MAX_MS)).then(effect);
    return { kind: 'unknown' };
  };
  return {
    read: attempt,
    write: attempt,
    writeRecord: (effect) => attempt(() => (world.random.chance(faults().lostAnswer) ? loseAnswer(effect) : effect())),
  };
}

const LATE_WRITE_MAX_MS = 3_000;
