import { withOperation, type FleetOperation, type Worker } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { type LeaderTerm, requireTerm, TermOverError } from '../../leadership/index.js';
import type { FleetStore, NewWorker } from '../fleet.store.js';

/** Of one endpoint. */
const WRITES_AT_ONCE = 4;

/** What was carried out of a plan. */
export interface Staffed {
  readonly done: readonly FleetOperation[];
  readonly workers: readonly Worker[];
  /** True when the rows had changed since they were read: the rest of the plan was left to the next pass. */
  readonly isCutShort: boolean;
}

interface CarriedOperationsOptions {
  readonly store: Pick<FleetStore, keyof FleetStore>;
  /** Asked before every write. */
  readonly term: LeaderTerm;
  /** Told of each operation that was carried out, with the workers of its endpoint as they were before. */
  readonly onDone: (operation: FleetOperation, before: readonly Worker[]) => void;
}

/** The operations of a plan as writes, each of which names what it expects. */
export class CarriedOperations {
  readonly #options: CarriedOperationsOptions;

  constructor(options: CarriedOperationsOptions) {
    this.#options = options;
  }

  /**
   * Operations of one kind that follow each other are carried out together: none of them names a worker of another.
   *
   * @param before the workers of their endpoint
   * @throws TermOverError
   */
  async carryOut(operations: readonly FleetOperation[], before: readonly Worker[]): Promise<Staffed> {
    const done: FleetOperation[] = [];
    for (const run of runsOf(operations)) {
      const carriedOut = await this.#performAll(run, before);
      done.push(...carriedOut);
      if (carriedOut.length < run.length)
        return { done, workers: done.reduce(withOperation, before), isCutShort: true };
    }
    return { done, workers: done.reduce(withOperation, before), isCutShort: false };
  }

  /** Returns those whose rows were as they were read. @throws TermOverError */
  async #performAll(run: readonly FleetOperation[], before: readonly Worker[]): Promise<readonly FleetOperation[]> {
    const { onDone, store, term } = this.#options;
    const created = run.filter((operation) => operation.kind === 'create-worker');
    requireTerm(term);
    if (created.length > 0) {
      const rows = created.map((operation) => ({ ...operation.worker, ...boundBy(operation) }));
      if (!(await store.createWorkers(rows, term))) throw new TermOverError();
      for (const operation of created) onDone(operation, before);
      return created;
    }
    const outcomes = await inParallel(run, WRITES_AT_ONCE, async (operation) => {
      requireTerm(term);
      if (operation.kind === 'create-worker' || !(await this.#perform(operation))) return [];
      onDone(operation, before);
      return [operation];
    });
    return outcomes.flat();
  }

  /** False: the row was not as it was read. */
  async #perform(operation: Exclude<FleetOperation, { readonly kind: 'create-worker' }>): Promise<boolean> {
    const { store } = this.#options;
    switch (operation.kind) {
      case 'drain-worker':
        await store.drainWorker(operation.workerId, operation.leavesAfterIdleMs);
        return true;
      case 'pause-worker':
        await store.pauseWorker(operation.workerId, operation.pausesAfterIdleMs);
        return true;
      case 'resume-worker':
        await store.resumeWorker(operation.workerId);
        return true;
      case 'forget-worker': {
        const { hostLastSeenAtMs, reason, workerId: id } = operation;
        return store.forgetWorker({ id, reason, hostLastSeenAtMs });
      }
      case 'note-stay':
        await store.noteStay(operation.workerId, operation.because);
        return true;
      default:
        return operation satisfies never;
    }
  }
}

/** Neighbours of one kind, in their order. */
function runsOf(operations: readonly FleetOperation[]): readonly (readonly FleetOperation[])[] {
  const runs: FleetOperation[][] = [];
  for (const operation of operations) {
    const last = runs.at(-1);
    if (last?.[0]?.kind === operation.kind) last.push(operation);
    else runs.push([operation]);
  }
  return runs;
}

const boundBy = ({ storageId }: FleetOperation & { readonly kind: 'create-worker' }): Pick<NewWorker, 'storageId'> =>
  storageId === undefined ? {} : { storageId };
