import { constants } from 'node:os';
import type { HostGpu, Inventory, WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import {
  VOLUME_SIZE_NOTE,
  type CallOptions,
  type ContainerFreezer,
  type ContainerExit,
  type ContainerRuntime,
  type ContainerStart,
  type ImageRequest,
  type OwnedContainer,
  type OwnedContainerState,
  type PrintedBatch,
  type StartOptions,
} from '../src/runtimes/container-runtime.port.js';
import { RuntimeError, throwIfCancelled } from '../src/runtimes/runtime-error.js';
import { allocateGpus } from '../src/runtimes/machine/allocate-gpus.js';
import { signalName } from '../src/runtimes/signal-name.js';
import { testMachine } from './test-machine.js';

interface FakeContainer {
  readonly containerId: string;
  readonly start: ContainerStart;
  readonly startedAtMs: number;
  readonly gpuIndexes: readonly number[];
  readonly lines: string[];
  exit: ContainerExit | null;
  isPaused: boolean;
  /** Whoever started it was interrupted before its program began. */
  isOnlyCreated?: boolean;
}

type FailingVerb = 'prepare' | 'start' | 'pause';

const SIGKILL_EXIT: ContainerExit = { code: 137, cause: 'killed', detail: 'killed' };

/** The containers of one pretended machine; several runtimes may look at it. */
export class FakeMachine {
  readonly containers = new Map<WorkerId, FakeContainer>();
  readonly images: Set<string>;
  readonly gpus: readonly HostGpu[];
  /** As where workers are processes. */
  sharesPorts = false;
  /** As where workers are Pods. */
  isTakenAwayWhenGone = false;
  /** What was asked of it, in order: `start w1`. */
  readonly calls: string[] = [];
  readonly listeners = new Set<() => void>();
  /** What was kept in network volumes, by their folder. */
  readonly kept = new Map<string, string>();
  #starts = 0;

  constructor(images: readonly string[], gpus: readonly HostGpu[] = []) {
    this.images = new Set(images);
    this.gpus = gpus;
  }

  nextId(): string {
    this.#starts += 1;
    return `c${String(this.#starts)}`;
  }

  /** The container's program prints a line. */
  print(workerId: WorkerId, line: string): void {
    this.containers.get(workerId)?.lines.push(line);
    for (const listener of this.listeners) listener();
  }

  /** Resolves when something has changed. */
  async change(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.listeners.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.listeners.add(done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }

  /** The container's program ends by itself, or by somebody else's hand. */
  end(workerId: WorkerId, exit: Partial<ContainerExit> = {}, lines: readonly string[] = []): void {
    const container = this.containers.get(workerId);
    if (container === undefined || container.exit !== null) return;
    container.lines.push(...lines);
    container.exit = { code: 0, cause: 'exited', detail: '', ...exit };
    for (const listener of this.listeners) listener();
  }
}

/** A runtime without processes. Programs are those of the conformance suite's probe. */
export class FakeRuntime implements ContainerRuntime {
  readonly freezer: ContainerFreezer;
  readonly #machine: FakeMachine;
  readonly #clock: Clock;
  readonly #failures = new Map<FailingVerb, RuntimeError>();
  /** Its starts go on until they are given up, as of a Pod that its node does not begin with. */
  isStuck = false;
  /** Of the last start: told what keeps the host from beginning. */
  heldUp: (reason: string | null) => void = () => undefined;

  constructor(machine: FakeMachine, clock: Clock) {
    this.#machine = machine;
    this.#clock = clock;
    this.freezer = {
      pause: (workerId) => this.#freeze(workerId, true),
      resume: (workerId) => this.#freeze(workerId, false),
    };
  }

  get sharesPorts(): boolean {
    return this.#machine.sharesPorts;
  }

  get isTakenAwayWhenGone(): boolean {
    return this.#machine.isTakenAwayWhenGone;
  }

  /** The next call of the verb, and every one after it until `null`, fails so. */
  failing(verb: FailingVerb, error: RuntimeError | null): void {
    if (error === null) this.#failures.delete(verb);
    else this.#failures.set(verb, error);
  }

  async prepare({ image }: ImageRequest, { signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    this.#machine.calls.push(`prepare ${image}`);
    this.#failAsTold('prepare');
    this.#need(image);
  }

  async start({ credentials: _, ...start }: ContainerStart, options: StartOptions = {}): Promise<OwnedContainer> {
    const { onHeldUp = () => undefined, signal } = options;
    throwIfCancelled(signal);
    this.heldUp = onHeldUp;
    const { workerId, image } = start.labels;
    this.#machine.calls.push(`start ${workerId}`);
    this.#failAsTold('start');
    if (this.isStuck) await givenUp(signal);
    const present = this.#machine.containers.get(workerId);
    if (present?.exit === null && present.isOnlyCreated !== true) return describe(present);
    this.#need(image);
    const gpuIndexes = this.#takeGpus(start);
    const startedAtMs = this.#clock.nowMs();
    const containerId = this.#machine.nextId();
    const container: FakeContainer = {
      containerId,
      start,
      startedAtMs,
      gpuIndexes,
      lines: [],
      exit: null,
      isPaused: false,
    };
    this.#machine.containers.set(workerId, container);
    const started = describe(container);
    this.#play(container);
    return started;
  }

  async inspect(workerId: WorkerId): Promise<OwnedContainer | null> {
    const container = this.#machine.containers.get(workerId);
    return container === undefined ? null : describe(container);
  }

  async list(): Promise<readonly OwnedContainer[]> {
    return [...this.#machine.containers.values()].map(describe);
  }

  async stop(workerId: WorkerId): Promise<void> {
    this.#machine.calls.push(`stop ${workerId}`);
    await this.freezer.resume(workerId);
    const container = this.#machine.containers.get(workerId);
    if (container?.start.args[0] === 'wait') this.#machine.end(workerId, {}, ['leaving']);
  }

  async kill(workerId: WorkerId): Promise<void> {
    this.#machine.calls.push(`kill ${workerId}`);
    this.#machine.end(workerId, SIGKILL_EXIT);
  }

  async remove(workerId: WorkerId): Promise<void> {
    this.#machine.calls.push(`remove ${workerId}`);
    this.#machine.containers.delete(workerId);
    for (const listener of this.#machine.listeners) listener();
  }

  async logs(workerId: WorkerId, lines: number): Promise<readonly string[]> {
    return lines === 0 ? [] : (this.#machine.containers.get(workerId)?.lines.slice(-lines) ?? []);
  }

  async *follow(workerId: WorkerId, position: string | null, signal: AbortSignal): AsyncGenerator<PrintedBatch> {
    const container = this.#machine.containers.get(workerId);
    if (container === undefined) return;
    const { containerId, lines } = container;
    const [id, count] = (position ?? '').split(' ');
    let told = id === containerId ? Number(count) : 0;
    while (!signal.aborted && this.#machine.containers.get(workerId) === container) {
      const isOver = container.exit !== null;
      const printed = lines.slice(told);
      told = lines.length;
      if (printed.length > 0) {
        const news = printed.map((text) => ({ atMs: this.#clock.nowMs(), text }));
        yield { lines: news, position: `${containerId} ${String(told)}`, isGap: false };
      } else if (isOver) return;
      else await this.#machine.change(signal);
    }
  }

  async inventory(): Promise<Inventory> {
    const images = [...this.#machine.images];
    return { ...(await testMachine(this.#machine.gpus).inventory({ runtime: 'process', images })), canPause: true };
  }

  watch(onChange: () => void): () => void {
    this.#machine.listeners.add(onChange);
    return () => this.#machine.listeners.delete(onChange);
  }

  async close(): Promise<void> {
    this.#failures.clear();
  }

  async #freeze(workerId: WorkerId, isPaused: boolean): Promise<void> {
    const container = this.#machine.containers.get(workerId);
    if (container === undefined || container.exit !== null || container.isPaused === isPaused) return;
    this.#machine.calls.push(`${isPaused ? 'pause' : 'resume'} ${workerId}`);
    if (isPaused) this.#failAsTold('pause');
    container.isPaused = isPaused;
    const ticks = container.lines.length;
    if (!isPaused && container.start.args[0] === 'tick') {
      container.lines.push(`tick ${String(ticks + 1)}`, `tick ${String(ticks + 2)}`);
    }
  }

  #need(image: string): void {
    if (!this.#machine.images.has(image)) throw new RuntimeError('image-missing', `There is no image ${image}.`);
  }

  /** At once, where a runtime would look at the machine first: a manual clock waits for nothing real. */
  #takeGpus({ gpu, labels: { workerId } }: ContainerStart): readonly number[] {
    const held = new Map([...this.#machine.containers].map(([id, { gpuIndexes }]) => [id, gpuIndexes.map(String)]));
    const allocation = allocateGpus(this.#machine.gpus, held, { workerId, gpu });
    if (allocation.kind === 'refused') throw new RuntimeError('no-such-device', allocation.detail);
    return allocation.gpus.map(({ index }) => index);
  }

  #failAsTold(verb: FailingVerb): void {
    const failure = this.#failures.get(verb);
    if (failure !== undefined) throw failure;
  }

  #play({ start, lines }: FakeContainer): void {
    const [mode, first = '', ...rest] = start.args;
    const end = (printed: readonly string[], code = 0): void => {
      this.#machine.end(start.labels.workerId, { code }, printed);
    };
    if (mode === 'wait' || mode === 'stubborn') lines.push('ready');
    if (mode === 'exit') end(rest, Number(first));
    if (mode === 'die') this.#machine.end(start.labels.workerId, endBySignal(first), ['dying']);
    if (mode === 'tick') lines.push('tick 1');
    if (mode === 'show') end([start.env[first] ?? '']);
    if (mode === 'count') end(Array.from({ length: Number(first) }, (_, index) => `line ${String(index + 1)}`));
    if (mode === 'hoard') end([first]);
    if (mode === 'fill') end(['filled']);
    const { volumeFolder = '' } = start;
    if (mode === 'keep') {
      this.#machine.kept.set(volumeFolder, first);
      end([]);
    }
    const kept = this.#machine.kept.get(volumeFolder);
    if (mode === 'kept') end(kept === undefined ? [] : [kept], kept === undefined ? 1 : 0);
    if (mode === 'words') end([first, ...rest].map((word) => `<${word}>`));
  }
}

/** @throws RuntimeError `cancelled`, once the caller has given up */
async function givenUp(signal: AbortSignal | undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    signal?.addEventListener('abort', () => {
      resolve();
    });
  });
  throwIfCancelled(signal);
}

function endBySignal(name: string): ContainerExit {
  const number = constants.signals[`SIG${name}` as NodeJS.Signals];
  return { code: 128 + number, cause: 'killed', detail: name === 'KILL' ? 'killed' : `ended by ${signalName(number)}` };
}

function stateOf({
  exit,
  isOnlyCreated,
  isPaused,
}: Pick<FakeContainer, 'exit' | 'isOnlyCreated' | 'isPaused'>): OwnedContainerState {
  if (isOnlyCreated === true) return { kind: 'created' };
  return exit === null ? { kind: isPaused ? 'paused' : 'running' } : { kind: 'ended', exit };
}

const describe = ({ containerId, start, startedAtMs, ...container }: FakeContainer): OwnedContainer => ({
  containerId,
  labels: start.labels,
  state: stateOf(container),
  startedAtMs: container.isOnlyCreated === true ? null : startedAtMs,
  ...(container.exit === null ? { address: '10.9.0.1' } : {}),
  notes: [
    'The limits of vCPU, memory and disk are pretended.',
    ...(start.volumeFolder === undefined ? [] : [VOLUME_SIZE_NOTE]),
  ],
});
