import type { WorkerId } from '@berth/domain';
import type {
  Bridge,
  BridgeEvent,
  BridgeWorkerState,
  WorkerAdmission,
  WorkerDeparture,
  WorkerRegistration,
} from '../src/bridge/bridge.port.js';

const QUIET: BridgeWorkerState = {
  phase: 'starting',
  runningJobs: 0,
  latestDeadlineAtMs: null,
  lastJobEndedAtMs: null,
  hasPolled: false,
  hasCalled: false,
  notAskingSinceMs: null,
  sdkVersion: null,
  lastPingAtMs: null,
  wantsRecycle: null,
};

/** A bridge that nobody calls: the test says what its workers do. */
export class FakeBridge implements Bridge {
  readonly port = 9_999;
  readonly address: string;
  readonly registrations = new Map<WorkerId, WorkerAdmission & Partial<WorkerRegistration>>();
  readonly departures: (WorkerDeparture & { readonly workerId: WorkerId; readonly runningJobs: number })[] = [];
  readonly drained: WorkerId[] = [];
  readonly askedToEnd: WorkerId[] = [];
  readonly held = new Set<WorkerId>();
  restored: readonly WorkerAdmission[] | null = null;
  /** Jobs that each restored worker had. */
  runningWhenRestored = 0;
  /** True as if the agent died before it could write down that jobs are lost. */
  failsToUnregister = false;
  readonly #states = new Map<WorkerId, BridgeWorkerState>();
  readonly #listeners = new Set<(event: BridgeEvent) => void>();

  constructor(address = '127.0.0.1:9999') {
    this.address = address;
  }

  async restore(workers: readonly WorkerAdmission[]): Promise<void> {
    this.restored = workers;
    for (const worker of workers) {
      this.#add(worker);
      this.set(worker.workerId, { runningJobs: this.runningWhenRestored });
    }
  }

  registerWorker(registration: WorkerRegistration): Readonly<Record<string, string>> {
    const { workerId, token, facts } = registration;
    const present = this.registrations.get(workerId);
    if (present !== undefined && present.token !== token) throw new Error(`${workerId} is registered already`);
    this.#add(registration);
    return { ...facts.env, RUNPOD_AI_API_KEY: token };
  }

  async beginDrain(workerId: WorkerId): Promise<void> {
    this.drained.push(workerId);
    this.set(workerId, { phase: 'draining' });
  }

  noteAskedToEnd(workerId: WorkerId): void {
    this.askedToEnd.push(workerId);
  }

  async holdPolls(workerId: WorkerId): Promise<void> {
    this.held.add(workerId);
  }

  openPolls(workerId: WorkerId): void {
    this.held.delete(workerId);
  }

  async unregister(workerId: WorkerId, departure: WorkerDeparture): Promise<void> {
    const state = this.#states.get(workerId);
    if (state === undefined) return;
    if (this.failsToUnregister) throw new Error('the agent is gone');
    this.departures.push({ workerId, runningJobs: state.runningJobs, ...departure });
    this.#states.delete(workerId);
    this.registrations.delete(workerId);
  }

  state(workerId: WorkerId): BridgeWorkerState | null {
    return this.#states.get(workerId) ?? null;
  }

  subscribe(listener: (event: BridgeEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(workerId: WorkerId, change: Partial<BridgeWorkerState>): void {
    const state = this.#states.get(workerId);
    if (state !== undefined) this.#states.set(workerId, { ...state, ...change });
  }

  tell(event: BridgeEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** The worker asks for its first job. */
  poll(workerId: WorkerId): void {
    this.set(workerId, { phase: 'idle', hasPolled: true, hasCalled: true });
    this.tell({ kind: 'first-poll', workerId });
  }

  #add(registration: WorkerAdmission): void {
    this.registrations.set(registration.workerId, registration);
    this.#states.set(registration.workerId, QUIET);
  }
}
