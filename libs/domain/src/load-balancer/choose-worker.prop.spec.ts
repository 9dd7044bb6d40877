import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { HostId, WorkerId } from '../ids.js';
import { WORKER_PHASES } from '../worker/index.js';
import type { Affinity } from './affinity.js';
import { chooseToWaitFor, chooseWorker, nextOpeningMs, type CandidateWorker } from './choose-worker.js';
import {
  EJECTED_MS,
  ERRORS_TO_EJECT,
  NO_LOAD,
  afterAdmission,
  afterChoice,
  afterEnd,
  afterRefusal,
  afterWaitBegan,
  afterWaitEnded,
  afterWaitWithdrawn,
  type WorkerLoad,
} from './worker-loads.js';

const NOW_MS = 100_000;
const ids = ['a', 'b', 'c', 'd', 'e'] as const;

const worker = (id: string): fc.Arbitrary<CandidateWorker> =>
  fc.record({
    id: fc.constant(id as WorkerId),
    hostId: fc.constant('h' as HostId),
    phase: fc.constantFrom(...WORKER_PHASES),
    isDraining: fc.boolean(),
    isPaused: fc.boolean(),
  });
const load: fc.Arbitrary<WorkerLoad> = fc.record({
  inFlight: fc.nat(4),
  shutUntilMs: fc.constantFrom(0, NOW_MS + 100),
  isShutAsFull: fc.boolean(),
  mayBeWaitedFor: fc.boolean(),
  ceiling: fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY),
  connectErrorsAtMs: fc.constant([]),
  ejectedUntilMs: fc.constantFrom(0, NOW_MS + 1_000),
  lastChoice: fc.nat(9),
});
const affinity: fc.Arbitrary<Affinity> = fc.oneof(
  fc.constant({ kind: 'any' as const }),
  fc.record({ kind: fc.constantFrom('prefer' as const, 'only' as const), workerId: fc.constantFrom(...ids, 'z') }),
);
const scene = fc.record({
  workers: fc.subarray([...ids]).chain((chosenIds) => fc.tuple(...chosenIds.map(worker))),
  loads: fc.dictionary(fc.constantFrom(...ids), load),
  slotsPerWorker: fc.integer({ min: 1, max: 4 }),
  affinity,
});

const isUp = ({ isDraining, isPaused = false, phase }: CandidateWorker): boolean =>
  !isDraining && !isPaused && (phase === 'idle' || phase === 'busy');

describe('the choice of a worker', () => {
  test('is one that is up, has room, is not left out, and that no other with room has fewer than', () => {
    fc.assert(
      fc.property(scene, ({ affinity: wanted, loads, slotsPerWorker, workers }) => {
        const loadOf = (id: WorkerId): WorkerLoad | undefined => loads[id];
        const choice = chooseWorker({ workers, slotsPerWorker, loadOf }, wanted, NOW_MS);
        const canTake = (each: CandidateWorker): boolean => {
          const { ceiling, ejectedUntilMs, inFlight, shutUntilMs } = loadOf(each.id) ?? NO_LOAD;
          const isOut = shutUntilMs > NOW_MS || ejectedUntilMs > NOW_MS;
          return isUp(each) && !isOut && inFlight < slotsPerWorker && inFlight <= ceiling;
        };
        const able = workers.filter(canTake);
        if (choice.kind === 'none') {
          const open = wanted.kind === 'only' ? able.filter(({ id }) => id === wanted.workerId) : able;
          expect(open).toEqual([]);
          return;
        }
        expect(able).toContain(choice.worker);
        const isWanted = wanted.kind !== 'any' && choice.worker.id === wanted.workerId;
        if (wanted.kind === 'only') expect(isWanted).toBe(true);
        if (wanted.kind === 'prefer' && able.some(({ id }) => id === wanted.workerId)) expect(isWanted).toBe(true);
        if (isWanted) return;
        const fewest = Math.min(...able.map(({ id }) => loadOf(id)?.inFlight ?? 0));
        expect(loadOf(choice.worker.id)?.inFlight ?? 0).toBe(fewest);
      }),
    );
  });

  test('says that the wanted one is gone only where it is none of the endpoint’s, or leaving', () => {
    fc.assert(
      fc.property(scene, ({ affinity: wanted, slotsPerWorker, workers }) => {
        const choice = chooseWorker({ workers, slotsPerWorker, loadOf: () => undefined }, wanted, NOW_MS);
        const isGone =
          wanted.kind === 'only' &&
          !workers.some(({ id, isDraining, phase }) => id === wanted.workerId && !isDraining && phase !== 'removed');
        expect(choice.kind === 'none' && choice.reason === 'gone').toBe(isGone);
      }),
    );
  });

  test('where nobody is open but somebody has room, there is an instant at which one opens', () => {
    fc.assert(
      fc.property(scene, ({ loads, slotsPerWorker, workers }) => {
        const from = { workers, slotsPerWorker, loadOf: (id: WorkerId): WorkerLoad | undefined => loads[id] };
        const openingMs = nextOpeningMs(from, NOW_MS);
        if (openingMs === null) return;
        expect(openingMs).toBeGreaterThan(NOW_MS);
        expect(chooseWorker(from, { kind: 'any' }, openingMs).kind).toBe('chosen');
      }),
    );
  });

  test('waits only for one that was full, has room for this router, and is not waited for already', () => {
    fc.assert(
      fc.property(scene, fc.subarray([...ids]), ({ affinity: wanted, loads, slotsPerWorker, workers }, waitedFor) => {
        const from = { workers, slotsPerWorker, loadOf: (id: WorkerId): WorkerLoad | undefined => loads[id] };
        const isWaitedFor = (id: WorkerId): boolean => waitedFor.some((each) => each === id);
        const worker = chooseToWaitFor(from, wanted, { isWaitedFor, nowMs: NOW_MS });
        const fit = workers.filter((each) => {
          const { ceiling, ejectedUntilMs, inFlight, isShutAsFull, mayBeWaitedFor, shutUntilMs } =
            loads[each.id] ?? NO_LOAD;
          const isShut = shutUntilMs > NOW_MS && ejectedUntilMs <= NOW_MS && isShutAsFull && mayBeWaitedFor;
          const hasRoom = inFlight < slotsPerWorker && inFlight <= ceiling;
          const isWanted = wanted.kind !== 'only' || wanted.workerId === each.id;
          return isUp(each) && isShut && hasRoom && isWanted && !isWaitedFor(each.id);
        });
        if (worker === null) expect(fit).toEqual([]);
        else expect(fit).toContain(worker);
        const fewest = Math.min(...fit.map(({ id }) => loads[id]?.inFlight ?? 0));
        if (worker !== null) expect(loads[worker.id]?.inFlight ?? 0).toBe(fewest);
      }),
    );
  });

  test('goes round among equals', () => {
    const workers: readonly CandidateWorker[] = ids.map((id) => ({
      ...{ id: id as WorkerId, hostId: 'h' as HostId },
      ...{ phase: 'idle' as const, isDraining: false },
    }));
    const loads = new Map<WorkerId, WorkerLoad>();
    const turns = Array.from({ length: 10 }, (_, index) => {
      const choice = chooseWorker({ workers, slotsPerWorker: 1, loadOf: (id) => loads.get(id) }, { kind: 'any' }, 0);
      if (choice.kind === 'none') return 'none';
      const { id } = choice.worker;
      loads.set(id, afterEnd(afterAdmission(afterChoice(loads.get(id) ?? NO_LOAD, index + 1))));
      return id;
    });
    expect(turns).toEqual([...ids, ...ids]);
  });
});

describe('what is seen of a worker', () => {
  const full = { reason: 'full', nowMs: NOW_MS, spread: 0 } as const;

  test('each request is counted from its choice to its end, however it ends', () => {
    const ends = fc.array(fc.constantFrom('ended', 'full', 'unreachable', 'timed-out'), { maxLength: 50 });
    fc.assert(
      fc.property(ends, (all) => {
        const after = all.reduce<WorkerLoad>((seen, end, index) => {
          const asked = afterChoice(seen, index);
          expect(asked.inFlight).toBe(1);
          return end === 'ended' ? afterEnd(afterAdmission(asked)) : afterRefusal(asked, { ...full, reason: end });
        }, NO_LOAD);
        expect(after.inFlight).toBe(0);
      }),
    );
  });

  test('one that was full is asked for one more at a time, once it is open again', () => {
    const two = [1, 2].reduce((seen, choice) => afterAdmission(afterChoice(seen, choice)), NO_LOAD);
    const refusedThird = afterRefusal(afterChoice(two, 3), full);
    const from = {
      workers: [{ id: 'a' as WorkerId, hostId: 'h' as HostId, phase: 'busy' as const, isDraining: false }],
      slotsPerWorker: 4,
    };
    const at = (seen: WorkerLoad, nowMs: number): string =>
      chooseWorker({ ...from, loadOf: () => seen }, { kind: 'any' }, nowMs).kind;
    expect(at(refusedThird, NOW_MS)).toBe('none');
    expect(at(refusedThird, NOW_MS + 100)).toBe('chosen');
    expect(at(afterChoice(refusedThird, 4), NOW_MS + 100)).toBe('none');
    expect(at(afterEnd(refusedThird), NOW_MS)).toBe('chosen');
  });

  test('of one that is full its next slot is waited for once, and again only where that could wait', () => {
    const from = {
      workers: [{ id: 'a' as WorkerId, hostId: 'h' as HostId, phase: 'busy' as const, isDraining: false }],
      slotsPerWorker: 1,
    };
    const canWait = (seen: WorkerLoad, nowMs: number): boolean =>
      chooseToWaitFor({ ...from, loadOf: () => seen }, { kind: 'any' }, { isWaitedFor: () => false, nowMs }) !== null;
    const isOpen = (seen: WorkerLoad, nowMs: number): boolean =>
      chooseWorker({ ...from, loadOf: () => seen }, { kind: 'any' }, nowMs).kind === 'chosen';
    const refused = afterRefusal(afterChoice(NO_LOAD, 1), full);
    expect([canWait(NO_LOAD, NOW_MS), canWait(refused, NOW_MS)]).toEqual([false, true]);
    const waiting = afterWaitBegan(refused);
    expect([canWait(waiting, NOW_MS), isOpen(waiting, NOW_MS + 100)]).toEqual([false, false]);
    expect(canWait(afterWaitWithdrawn(waiting), NOW_MS)).toBe(true);
    const refusedAtOnce = afterWaitEnded(waiting, { ...full, askedAtMs: NOW_MS });
    expect([canWait(refusedAtOnce, NOW_MS), isOpen(refusedAtOnce, NOW_MS)]).toEqual([false, false]);
    expect(isOpen(refusedAtOnce, NOW_MS + 100)).toBe(true);
    const refusedLate = afterWaitEnded(waiting, { ...full, nowMs: NOW_MS + 2_000, askedAtMs: NOW_MS });
    expect([refusedLate.inFlight, isOpen(refusedLate, NOW_MS + 2_000)]).toEqual([0, true]);
    const leaving = afterWaitEnded(waiting, { reason: 'leaving', nowMs: NOW_MS, spread: 0, askedAtMs: NOW_MS });
    expect([canWait(leaving, NOW_MS), leaving.inFlight]).toEqual([false, 0]);
  });

  test('connect errors in a short time take it out for a while; spread over long, or with a success between, not', () => {
    const failAt = (seen: WorkerLoad, nowMs: number): WorkerLoad =>
      afterRefusal(afterChoice(seen, 1), { reason: 'unreachable', nowMs, spread: 0 });
    const quick = Array.from({ length: ERRORS_TO_EJECT }, (_, n) => n * 1_000).reduce(failAt, NO_LOAD);
    expect(quick.ejectedUntilMs).toBe((ERRORS_TO_EJECT - 1) * 1_000 + EJECTED_MS);
    expect([0, 6_000, 12_000, 18_000].reduce(failAt, NO_LOAD).ejectedUntilMs).toBe(NO_LOAD.ejectedUntilMs);
    const between = failAt(afterEnd(afterAdmission(afterChoice([0, 1].reduce(failAt, NO_LOAD), 1))), 2);
    expect(between.ejectedUntilMs).toBe(NO_LOAD.ejectedUntilMs);
  });
});
