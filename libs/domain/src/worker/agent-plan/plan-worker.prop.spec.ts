import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planWorker } from './plan-worker.js';
import { newJournal, withStartFailure } from './worker-journal.js';
import type { WorkerOperation } from './worker-operation.js';
import { WORKER_LIFECYCLE } from '../worker-phase.js';
import type { WantedWorker, ContainerSession, WorkerView } from './worker-view.js';
import type { WorkerPhase } from '../worker.js';

/** What the world does to a worker, at moments of its own choosing. */
type Happening =
  | { readonly kind: 'time'; readonly ms: number }
  | { readonly kind: 'drain' | 'restart' | 'unlist' | 'prepare-fails' | 'start-fails' | 'poll' | 'take' | 'finish' }
  | { readonly kind: 'recycle' | 'hang' | 'vanish' | 'agent-restarts' | 'agent-returns-elsewhere' | 'sync' }
  | { readonly kind: 'pause' | 'wake' | 'pause-fails' }
  | { readonly kind: 'exit'; readonly exitCode: number };

const DESIRED: WantedWorker = {
  intent: 'running',
  endpointType: 'QUEUE',
  generation: 0,
  initTimeoutMs: 420_000,
  stopGraceMs: 30_000,
};

/** One worker on a host that obeys: what an agent would observe and do, in memory. */
class SimulatedWorker {
  nowMs = 1_000_000;
  lives = 0;
  bridgePort = 1;
  workersPort = 1;
  readyAtMs: number | null = null;
  failNext: 'prepare' | 'start' | null = null;
  failsToPause = false;
  readonly applied: WorkerOperation[] = [];
  readonly phases: WorkerPhase[] = [];
  view: WorkerView = {
    desired: DESIRED,
    isSynced: true,
    container: { kind: 'absent' },
    preparation: 'none',
    session: null,
    journal: newJournal(0),
  };

  /** Plans and applies until the step is to wait. */
  settle(): void {
    for (let steps = 0; steps < 50; steps += 1) {
      const { operation, condition } = planWorker(this.view, this.nowMs);
      if (this.phases.at(-1) !== condition.phase) this.phases.push(condition.phase);
      if (operation.kind === 'wait-until') return;
      this.applied.push(operation);
      this.apply(operation);
    }
    throw new Error(`no rest: ${JSON.stringify(this.applied.slice(-6))}`);
  }

  apply(operation: WorkerOperation): void {
    const { view, nowMs } = this;
    switch (operation.kind) {
      case 'prepare':
        return this.failNext === 'prepare' ? this.fail() : this.become({ preparation: 'done' });
      case 'start':
        return this.failNext === 'start' ? this.fail() : this.start();
      case 'adopt':
        return this.become({ session: this.adopted(view.container) });
      case 'release-parked-polls':
        return this.inSession({ releasedAtMs: nowMs });
      case 'hold-polls':
        return this.inSession({ heldAtMs: nowMs });
      case 'pause':
        return this.freeze();
      case 'resume':
        this.setFrozen(false);
        return this.inSession({ heldAtMs: null, resumedAtMs: nowMs });
      case 'stop':
        this.setFrozen(false);
        return this.inSession({ stoppedAtMs: nowMs });
      case 'kill':
        this.inSession({ killedAtMs: nowMs });
        return this.exit(137);
      case 'give-back-jobs':
        return this.inSession({ runningJobs: 0, latestDeadlineAtMs: null });
      case 'remove':
        return this.become({ container: { kind: 'absent' }, session: null });
      case 'write-journal':
        return this.become({ journal: operation.journal });
      case 'forget':
        return this.become({ desired: DESIRED, journal: newJournal(0), preparation: 'none' });
      case 'wait-until':
        return;
    }
  }

  happen(happening: Happening): void {
    const { view, nowMs } = this;
    const isAwake = view.container.kind === 'running' && view.container.isPaused !== true;
    switch (happening.kind) {
      case 'time':
        this.nowMs += happening.ms;
        break;
      case 'drain':
        return this.become({ desired: { ...(view.desired ?? DESIRED), intent: 'drained' } });
      case 'pause':
        return this.become({ desired: { ...(view.desired ?? DESIRED), intent: 'paused', pausesAfterIdleMs: 5_000 } });
      case 'wake':
        return this.become({ desired: { ...(view.desired ?? DESIRED), intent: 'running' } });
      case 'pause-fails':
        this.failsToPause = true;
        break;
      case 'restart':
        return view.desired === null
          ? undefined
          : this.become({ desired: { ...view.desired, generation: view.desired.generation + 1 } });
      case 'unlist':
        return this.become({ desired: null });
      case 'sync':
        return this.become({ isSynced: true });
      case 'prepare-fails':
        this.failNext = 'prepare';
        break;
      case 'start-fails':
        this.failNext = 'start';
        break;
      case 'poll':
        return isAwake && view.session !== null
          ? this.inSession({ readyAtMs: view.session.readyAtMs ?? nowMs, hasCalled: true })
          : undefined;
      case 'take':
        return isAwake && view.session?.releasedAtMs === null && view.session.heldAtMs == null
          ? this.inSession({ readyAtMs: nowMs, hasCalled: true, runningJobs: 1, latestDeadlineAtMs: nowMs + 300_000 })
          : undefined;
      case 'finish':
        return view.session?.runningJobs === 1
          ? this.inSession({ runningJobs: 0, finishedJobs: 1, latestDeadlineAtMs: null })
          : undefined;
      case 'recycle':
        return this.inSession({ recycleReason: 'stopPod' });
      case 'hang':
        return this.inSession({ killReason: 'a job did not let go' });
      case 'vanish':
        return this.become({ container: { kind: 'absent' } });
      case 'exit':
        return this.exit(happening.exitCode);
      case 'agent-restarts':
        return this.restartAgent();
      case 'agent-returns-elsewhere':
        this.bridgePort += 1;
        return this.restartAgent();
    }
  }

  become(fields: Partial<WorkerView>): void {
    this.view = { ...this.view, ...fields };
  }

  inSession(fields: Partial<ContainerSession>): void {
    if (this.view.session !== null) this.become({ session: { ...this.view.session, ...fields } });
  }

  restartAgent(): void {
    this.phases.length = 0;
    this.readyAtMs = this.view.session?.readyAtMs ?? null;
    this.become({ session: null, preparation: 'none', isSynced: false });
  }

  fail(): void {
    this.failNext = null;
    this.become({
      preparation: 'none',
      journal: withStartFailure(this.view.journal, { reason: 'no such image', kind: 'image' }, this.nowMs),
    });
  }

  freeze(): void {
    const { failsToPause, nowMs } = this;
    this.failsToPause = false;
    if (failsToPause) this.inSession({ heldAtMs: null, pauseFailure: { atMs: nowMs, reason: 'no freezer' } });
    else this.setFrozen(true);
  }

  setFrozen(isPaused: boolean): void {
    const { container } = this.view;
    if (container.kind === 'running') this.become({ container: { ...container, isPaused } });
  }

  start(): void {
    this.lives += 1;
    this.workersPort = this.bridgePort;
    const containerId = `c${this.lives}`;
    this.become({
      container: { kind: 'running', containerId, startedAtMs: this.nowMs },
      session: this.open(containerId),
    });
  }

  open(containerId: string): ContainerSession {
    return {
      containerId,
      openedAtMs: this.nowMs,
      isAdopted: false,
      knowsBridge: true,
      hasCalled: false,
      readyAtMs: null,
      runningJobs: 0,
      finishedJobs: 0,
      latestDeadlineAtMs: null,
      recycleReason: null,
      killReason: null,
      releasedAtMs: null,
      stoppedAtMs: null,
      killedAtMs: null,
    };
  }

  /** Its readiness is on disk; what it holds is not remembered here. */
  adopted(container: WorkerView['container']): ContainerSession | null {
    if (container.kind === 'absent') return null;
    const knowsBridge = this.workersPort === this.bridgePort;
    return { ...this.open(container.containerId), isAdopted: true, knowsBridge, readyAtMs: this.readyAtMs };
  }

  exit(exitCode: number): void {
    const { container } = this.view;
    if (container.kind !== 'running') return;
    this.become({ container: { kind: 'exited', containerId: container.containerId, exitCode, reason: '' } });
  }
}

const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('time' as const), ms: fc.nat(500_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('exit' as const), exitCode: fc.constantFrom(0, 1, 137) }) },
  {
    weight: 6,
    arbitrary: fc
      .constantFrom('poll', 'take', 'finish', 'recycle', 'restart', 'prepare-fails', 'start-fails', 'hang', 'vanish')
      .map((kind) => ({ kind })),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('agent-restarts', 'agent-returns-elsewhere', 'sync', 'unlist', 'drain')
      .map((kind) => ({ kind })),
  },
  { weight: 4, arbitrary: fc.constantFrom('pause', 'wake', 'pause-fails').map((kind) => ({ kind }) as const) },
);

const stories = fc.array(happening, { maxLength: 40 });

function live(story: readonly Happening[]): SimulatedWorker {
  const worker = new SimulatedWorker();
  worker.settle();
  for (const each of story) {
    worker.happen(each);
    worker.settle();
  }
  return worker;
}

test('whatever happens, the steps come to rest', () => {
  fc.assert(fc.property(stories, (story) => expect(() => live(story)).not.toThrow()));
});

test('planning twice without a change gives the same step', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const { view, nowMs } = live(story);
      expect(planWorker(view, nowMs)).toEqual(planWorker(view, nowMs));
      expect(planWorker(view, nowMs).operation.kind).toBe('wait-until');
    }),
  );
});

test('SIGTERM comes after the parked polls were released, in every life of the container', () => {
  fc.assert(
    fc.property(stories, (story) => {
      let isReleased = false;
      for (const { kind } of live(story).applied) {
        if (kind === 'start' || kind === 'adopt') isReleased = false;
        if (kind === 'release-parked-polls') isReleased = true;
        if (kind === 'stop') expect(isReleased).toBe(true);
      }
    }),
  );
});

test('a container is frozen only after its polls were held, without a job, and never gets one until it goes on', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const worker = new SimulatedWorker();
      worker.settle();
      for (const each of story) {
        worker.happen(each);
        worker.settle();
        const { container, session } = worker.view;
        if (container.kind !== 'running' || container.isPaused !== true || session === null) continue;
        expect(session).toMatchObject({ heldAtMs: expect.any(Number), runningJobs: 0 });
      }
    }),
  );
});

test('a ready worker that is to be paused is frozen after its idle time, and goes on in the same life when it is wanted', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const worker = live(story);
      worker.failsToPause = false;
      const generation = worker.view.journal.generation;
      const pausing: WantedWorker = { ...DESIRED, generation, intent: 'paused', pausesAfterIdleMs: 5_000 };
      worker.become({ desired: pausing, isSynced: true });
      worker.settle();
      worker.happen({ kind: 'poll' });
      worker.happen({ kind: 'finish' });
      worker.settle();
      worker.happen({ kind: 'time', ms: 61_000 });
      worker.settle();
      const { container } = worker.view;
      if (container.kind !== 'running' || container.isPaused !== true) return;
      expect(worker.phases.at(-1)).toBe('paused');
      worker.happen({ kind: 'time', ms: 3_600_000 });
      worker.settle();
      expect(worker.view.container).toEqual(container);
      worker.become({ desired: { ...DESIRED, generation } });
      worker.settle();
      expect(worker.view.container).toEqual({ ...container, isPaused: false });
      expect(worker.phases.at(-1)).toBe('idle');
      expect(worker.view.session?.heldAtMs).toBeNull();
    }),
  );
});

test('reported phases follow the table', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const { phases } = live(story);
      phases.slice(1).forEach((phase, index) => {
        const before = phases[index];
        // A forgotten worker that is listed again is a new one.
        if (before !== undefined && before !== 'removed') expect(WORKER_LIFECYCLE[before].followedBy).toContain(phase);
      });
    }),
  );
});

test('a worker told to leave is gone after its longest job and the grace, and never starts again', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const worker = live(story);
      worker.become({ desired: { ...DESIRED, intent: 'drained' }, isSynced: true });
      const before = worker.lives;
      worker.settle();
      worker.happen({ kind: 'time', ms: 320_000 });
      worker.settle();
      expect(worker.view.container).toEqual({ kind: 'absent' });
      expect(worker.phases.at(-1)).toBe('removed');
      expect(worker.lives).toBe(before);
    }),
  );
});

test('a wanted worker runs again, however it got lost, once its delay is over', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const worker = live(story);
      worker.failNext = null;
      worker.become({ desired: { ...DESIRED, generation: worker.view.journal.generation }, isSynced: true });
      for (let rounds = 0; rounds < 4; rounds += 1) {
        worker.settle();
        worker.happen({ kind: 'poll' });
        worker.happen({ kind: 'time', ms: 320_000 });
      }
      worker.settle();
      expect(worker.view.container.kind).toBe('running');
      expect(['idle', 'busy']).toContain(worker.phases.at(-1));
    }),
  );
});

test('a wanted worker that was ready, has no job and calls nobody is gone within two minutes', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const worker = live(story);
      worker.failNext = null;
      worker.become({ desired: { ...DESIRED, generation: worker.view.journal.generation }, isSynced: true });
      worker.settle();
      const { session } = worker.view;
      for (let rounds = 0; rounds < 4; rounds += 1) {
        worker.happen({ kind: 'time', ms: 30_000 });
        worker.settle();
      }
      const isIdle = session !== null && session.readyAtMs !== null && session.runningJobs === 0;
      if (isIdle && !session.hasCalled) expect(worker.view.session?.containerId).not.toBe(session.containerId);
    }),
  );
});

test('a crash loop is started ever more slowly: at most a dozen starts in its first hour', () => {
  const worker = new SimulatedWorker();
  worker.settle();
  const endMs = worker.nowMs + 3_600_000;
  while (worker.nowMs < endMs) {
    worker.happen({ kind: 'exit', exitCode: 1 });
    worker.settle();
    worker.happen({ kind: 'time', ms: 1_000 });
    worker.settle();
  }
  expect(worker.lives).toBeGreaterThan(10);
  expect(worker.lives).toBeLessThanOrEqual(22);
  expect(worker.phases).toContain('unhealthy');
});
