import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import {
  VOLUME_SIZE_NOTE,
  type ContainerFreezer,
  type ContainerRuntime,
  type ContainerStart,
  type OwnedContainer,
  type PrintedBatch,
} from './container-runtime.port.js';
import { RuntimeError } from './runtime-error.js';

/** One implementation under test, on a bench that its spec builds: a host with two GPUs of one type. */
export interface RuntimeBench {
  readonly gpuTypeId: string;
  /** False where devices stand behind them. */
  readonly areGpusSimulated: boolean;
  /** Told by the bench, because a program cannot tell in a moment how many processors it may use. */
  readonly keepsVcpus: boolean;
  /** Image whose program is `PROBE_SCRIPT`. */
  readonly probeImage: string;
  readonly missingImage: string;
  /** A folder of the host, for a network volume. */
  newFolder(): Promise<string>;
  /** A new instance on the same containers, as an agent's successor has it. */
  open(): Promise<ContainerRuntime>;
  close(): Promise<void>;
}

interface RuntimePromises {
  readonly canPause?: boolean;
  readonly isTakenAwayWhenGone?: boolean;
}

/**
 * The program of the probe image, for `/bin/sh`. Its first argument says how it behaves:
 * `wait` until SIGTERM, then leave with 0 · `stubborn` against SIGTERM · `exit CODE TEXT` · `die SIGNAL` by its own hand ·
 * `show NAME` of a variable · `tick` on and on · `count N` lines · `words …` one a line · `hoard N` bytes of memory ·
 * `fill N` bytes of the disk · `keep TEXT` in its network volume · `kept` there.
 */
export const PROBE_SCRIPT = `
mode=$1
[ $# -gt 0 ] && shift
case $mode in
  wait) trap 'echo leaving; exit 0' TERM; echo ready; while :; do sleep 0.05; done ;;
  stubborn) trap '' TERM; echo ready; while :; do sleep 0.05; done ;;
  exit) echo "$2"; exit "$1" ;;
  die) echo dying; kill -s "$1" $$; sleep 5 ;;
  show) printenv "$1" ;;
  tick) i=0; while :; do i=$((i + 1)); echo "tick $i"; sleep 0.05; done ;;
  count) i=1; while [ "$i" -le "$1" ]; do echo "line $i"; i=$((i + 1)); done ;;
  keep) echo "$1" >"$BERTH_VOLUME_PATH/kept" ;;
  kept) cat "$BERTH_VOLUME_PATH/kept" ;;
  words) for word in "$@"; do echo "<$word>"; done ;;
  hoard) head -c "$1" /dev/zero | tail -n 1 | wc -c ;;
  fill) head -c "$1" /dev/zero > filled && echo filled || echo full ;;
esac
`;

const MIB = 1024 * 1024;
const HOST = 'host1' as HostId;
const DEADLINE = { deadlineMs: 20_000 };
const TEST_TIMEOUT_MS = 60_000;

/**
 * What every runtime keeps to. `openBench` is called once.
 *
 * @param canPause whether it promises to freeze containers
 * @param isTakenAwayWhenGone whether it promises that none is gone that was not taken away
 */
export function containerRuntimeConformance(
  name: string,
  openBench: () => Promise<RuntimeBench>,
  { canPause = true, isTakenAwayWhenGone = false }: RuntimePromises = {},
): void {
  describe(`${name}: container runtime`, () => {
    let bench: RuntimeBench;
    let runtime: ContainerRuntime;
    let workers = 0;

    beforeAll(async () => {
      bench = await openBench();
      runtime = await bench.open();
    }, TEST_TIMEOUT_MS);
    afterEach(async () => {
      for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
    }, TEST_TIMEOUT_MS);
    afterAll(async () => {
      await runtime.close();
      await bench.close();
    }, TEST_TIMEOUT_MS);

    const startOf = (args: readonly string[], more: Partial<ContainerStart> = {}): ContainerStart => {
      workers += 1;
      const workerId = `w${String(workers)}${name.replace(/[^a-z]/g, '')}` as WorkerId;
      const endpointId = 'endpoint1' as EndpointId;
      const labels = { hostId: HOST, workerId, endpointId, release: 3, image: bench.probeImage };
      const limits = { vcpus: 1, memoryBytes: 128 * MIB, diskBytes: null };
      return { labels, args, env: {}, limits, gpu: null, ...more };
    };
    const idOf = (start: ContainerStart): WorkerId => start.labels.workerId;
    const started = async (...args: readonly string[]): Promise<WorkerId> => {
      const start = startOf(args);
      await runtime.start(start);
      return idOf(start);
    };
    const logsHave = (id: WorkerId, line: string): Promise<void> =>
      eventually(async () => expect(await runtime.logs(id, 100)).toContain(line), DEADLINE);
    const ended = (id: WorkerId, from = runtime): Promise<OwnedContainer['state'] & { readonly kind: 'ended' }> =>
      eventually(async () => {
        const state = (await from.inspect(id))?.state;
        if (state?.kind !== 'ended') throw new Error(`not ended but ${String(state?.kind)}`);
        return state;
      }, DEADLINE);
    const reasonOf = (call: Promise<unknown>): Promise<string> =>
      call.then(
        () => 'nothing was wrong',
        (error: unknown) => (error instanceof RuntimeError ? error.reason : String(error)),
      );

    describe('prepare', () => {
      test(
        'of a present image returns at once, however often',
        async () => {
          await runtime.prepare({ image: bench.probeImage, credentials: null });
          await runtime.prepare({ image: bench.probeImage, credentials: null });
          expect((await runtime.inventory()).images).toContain(bench.probeImage);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of a missing image fails for good as image-missing',
        async () => {
          const prepared = runtime.prepare({ image: bench.missingImage, credentials: null });
          await expect(prepared).rejects.toBeInstanceOf(RuntimeError);
          await expect(prepared).rejects.toMatchObject({ reason: 'image-missing', isTemporary: false });
        },
        TEST_TIMEOUT_MS,
      );

      test('of a cancelled call is refused as cancelled', async () => {
        const signal = AbortSignal.abort();
        expect(await reasonOf(runtime.prepare({ image: bench.probeImage, credentials: null }, { signal }))).toBe(
          'cancelled',
        );
      });
    });

    describe('inventory', () => {
      test('tells what containers can have', async () => {
        const inventory = await runtime.inventory();
        expect(inventory.gpus.map(({ typeId }) => typeId)).toEqual([bench.gpuTypeId, bench.gpuTypeId]);
        expect(inventory.areGpusSimulated).toBe(bench.areGpusSimulated);
        for (const size of [inventory.vcpus, inventory.memoryBytes, inventory.diskBytes])
          expect(size).toBeGreaterThan(0);
      });
    });

    describe('GPUs', () => {
      const some = (count: number): Pick<ContainerStart, 'gpu'> => ({ gpu: { typeId: bench.gpuTypeId, count } });

      test(
        'are held until the worker is removed, also after its program has ended',
        async () => {
          const holder = startOf(['exit', '0', 'done'], some(2));
          await runtime.start(holder);
          await ended(idOf(holder));
          expect(await reasonOf(runtime.start(startOf(['wait'], some(1))))).toBe('no-such-device');
          expect(await runtime.list()).toHaveLength(1);
          await runtime.remove(idOf(holder));
          await Promise.all([runtime.start(startOf(['wait'], some(1))), runtime.start(startOf(['wait'], some(1)))]);
          expect(await reasonOf(runtime.start(startOf(['wait'], some(1))))).toBe('no-such-device');
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'that a worker holds are known to the agent that comes after',
        async () => {
          const holder = startOf(['wait'], some(2));
          await runtime.start(holder);
          const successor = await bench.open();
          expect(await reasonOf(successor.start(startOf(['wait'], some(1))))).toBe('no-such-device');
          await successor.remove(idOf(holder));
          await successor.start(startOf(['wait'], some(1)));
          await successor.close();
          // The first agent is gone by then; here it looks again at what its successor did.
          await runtime.remove(idOf(holder));
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'stay as many when the start is repeated, and when the worker is started anew',
        async () => {
          const holder = startOf(['exit', '0', 'done'], some(2));
          const runs = { ...holder, args: ['wait'] };
          await runtime.start(holder);
          await ended(idOf(holder));
          for (const start of [holder, runs, runs]) await runtime.start(start);
          expect(await reasonOf(runtime.start(startOf(['wait'], some(1))))).toBe('no-such-device');
          await runtime.remove(idOf(holder));
          await runtime.start(startOf(['wait'], some(2)));
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of a start that fails are free again',
        async () => {
          const start = startOf(['wait'], some(2));
          const missing = { ...start, labels: { ...start.labels, image: bench.missingImage } };
          expect(await reasonOf(runtime.start(missing))).toBe('image-missing');
          expect(await reasonOf(runtime.start(start, { signal: AbortSignal.abort() }))).toBe('cancelled');
          await runtime.start(startOf(['wait'], some(2)));
        },
        TEST_TIMEOUT_MS,
      );

      test('of a type that the host lacks are refused', async () => {
        const start = startOf(['wait'], { gpu: { typeId: 'NVIDIA H200', count: 1 } });
        expect(await reasonOf(runtime.start(start))).toBe('no-such-device');
      });
    });

    describe('limits', () => {
      const within = { vcpus: 1, memoryBytes: 32 * MIB, diskBytes: 16 * MIB };
      /** What the host owns up to not keeping. */
      const notesOf = async (id: WorkerId): Promise<string> => ((await runtime.inspect(id))?.notes ?? []).join(' ');

      test(
        'of memory is kept, or the worker carries a note that it is not',
        async () => {
          const start = startOf(['hoard', String(128 * MIB)], { limits: { ...within, diskBytes: null } });
          await runtime.start(start);
          await ended(idOf(start));
          const isHoarded = (await runtime.logs(idOf(start), 10)).includes(String(128 * MIB));
          expect(/memory/i.test(await notesOf(idOf(start)))).toBe(isHoarded);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of disk is kept, or the worker carries a note that it is not',
        async () => {
          const start = startOf(['fill', String(64 * MIB)], { limits: within });
          await runtime.start(start);
          await ended(idOf(start));
          const isFilled = (await runtime.logs(idOf(start), 10)).includes('filled');
          expect(/disk/i.test(await notesOf(idOf(start)))).toBe(isFilled);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of processors is kept, or the worker carries a note that it is not',
        async () => {
          const start = startOf(['wait'], { limits: within });
          await runtime.start(start);
          expect(/vCPU/i.test(await notesOf(idOf(start)))).toBe(!bench.keepsVcpus);
        },
        TEST_TIMEOUT_MS,
      );
    });

    describe('start', () => {
      test(
        'runs the program and tells who it is',
        async () => {
          const start = startOf(['wait']);
          const container = await runtime.start(start);
          expect(container).toMatchObject({ labels: start.labels, state: { kind: 'running' } });
          expect(container.startedAtMs).not.toBeNull();
          await logsHave(idOf(start), 'ready');
          expect(await runtime.inspect(idOf(start))).toMatchObject({ ...container, startedAtMs: expect.any(Number) });
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'again while it runs changes nothing',
        async () => {
          const start = startOf(['wait']);
          const first = await runtime.start(start);
          const second = await runtime.start(start);
          expect(second.containerId).toBe(first.containerId);
          expect(await runtime.list()).toHaveLength(1);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'after it has ended begins a new life',
        async () => {
          const start = startOf(['exit', '0', 'done']);
          const first = await runtime.start(start);
          await ended(idOf(start));
          const second = await runtime.start({ ...start, args: ['wait'] });
          expect(second.containerId).not.toBe(first.containerId);
          expect(await runtime.inspect(idOf(start))).toMatchObject({ state: { kind: 'running' } });
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of a missing image fails at once as image-missing and leaves nothing',
        async () => {
          const start = startOf(['wait']);
          const missing = { ...start, labels: { ...start.labels, image: bench.missingImage } };
          expect(await reasonOf(runtime.start(missing))).toBe('image-missing');
          expect(await runtime.inspect(idOf(start))).toBeNull();
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of a cancelled call starts nothing',
        async () => {
          const start = startOf(['wait']);
          expect(await reasonOf(runtime.start(start, { signal: AbortSignal.abort() }))).toBe('cancelled');
          expect((await runtime.inspect(idOf(start)))?.state.kind).not.toBe('running');
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'that is broken off on its way is cancelled and leaves nothing, also none of its GPUs taken',
        async () => {
          const breaking = new AbortController();
          const wanted = startOf(['wait'], { gpu: { typeId: bench.gpuTypeId, count: 2 } });
          const start: ContainerStart = {
            ...wanted,
            // Every runtime reads them while it makes the container: after its first look, and before the program runs.
            get args() {
              breaking.abort();
              return ['wait'];
            },
          };
          expect(await reasonOf(runtime.start(start, { signal: breaking.signal }))).toBe('cancelled');
          expect(breaking.signal.aborted).toBe(true);
          expect(await runtime.list()).toEqual([]);
          await runtime.start(wanted);
          expect(await runtime.inspect(idOf(wanted))).toMatchObject({ state: { kind: 'running' } });
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'passes arguments as they are, and the environment',
        async () => {
          const words = await started('words', 'two words', "it's", '$HOME', '');
          await ended(words);
          expect(await runtime.logs(words, 10)).toEqual(['<two words>', "<it's>", '<$HOME>', '<>']);
          const start = startOf(['show', 'GREETING'], { env: { GREETING: 'good $morning' } });
          await runtime.start(start);
          await ended(idOf(start));
          expect(await runtime.logs(idOf(start), 10)).toEqual(['good $morning']);
        },
        TEST_TIMEOUT_MS,
      );
    });

    describe('a network volume', () => {
      test(
        'has what another worker wrote there, who is told that its size is not enforced',
        async () => {
          const volumeFolder = await bench.newFolder();
          const writer = startOf(['keep', 'for the next one'], { volumeFolder });
          const started = await runtime.start(writer);
          expect(started.notes).toContain(VOLUME_SIZE_NOTE);
          expect(await ended(idOf(writer))).toMatchObject({ exit: { code: 0 } });
          expect((await runtime.inspect(idOf(writer)))?.notes).toEqual(started.notes);
          await runtime.remove(idOf(writer));
          const reader = startOf(['kept'], { volumeFolder });
          await runtime.start(reader);
          await ended(idOf(reader));
          expect(await runtime.logs(idOf(reader), 10)).toEqual(['for the next one']);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'of another is out of sight',
        async () => {
          const [one, other] = [await bench.newFolder(), await bench.newFolder()];
          const writer = startOf(['keep', 'mine'], { volumeFolder: one });
          await runtime.start(writer);
          await ended(idOf(writer));
          const reader = startOf(['kept'], { volumeFolder: other });
          await runtime.start(reader);
          expect(await ended(idOf(reader))).toMatchObject({ exit: { code: 1 } });
        },
        TEST_TIMEOUT_MS,
      );
    });

    describe('end', () => {
      test(
        'is told with its exit code',
        async () => {
          const id = await started('exit', '3', 'boom');
          expect(await ended(id)).toMatchObject({ exit: { code: 3, cause: 'exited' } });
          expect(await runtime.logs(id, 10)).toEqual(['boom']);
        },
        TEST_TIMEOUT_MS,
      );

      test.each([
        ['ABRT', 134, /signal 6 \(SIGABRT\)/],
        ['SEGV', 139, /signal 11 \(SIGSEGV\)/],
        ['KILL', 137, /killed/],
      ])(
        'by SIG%s is told with its signal, and what it wrote last is still there',
        async (signal, code, detail) => {
          const id = await started('die', signal);
          const { exit } = await ended(id);
          expect(exit).toMatchObject({ code, cause: 'killed', detail: expect.stringMatching(detail) });
          expect(await runtime.logs(id, 10)).toContain('dying');
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'hurries those who watch',
        async () => {
          let hints = 0;
          const unwatch = runtime.watch(() => (hints += 1));
          await ended(await started('exit', '0', 'done'));
          await eventually(() => expect(hints).toBeGreaterThan(0), DEADLINE);
          unwatch();
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'by stop lets the program leave by itself',
        async () => {
          const id = await started('wait');
          await logsHave(id, 'ready');
          await runtime.stop(id, 10_000);
          await runtime.stop(id, 10_000);
          expect(await ended(id)).toMatchObject({ exit: { code: 0 } });
          expect(await runtime.logs(id, 10)).toEqual(['ready', 'leaving']);
          await runtime.stop(id, 10_000);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'by kill needs no consent',
        async () => {
          const id = await started('stubborn');
          await logsHave(id, 'ready');
          await runtime.stop(id, 10_000);
          expect(await runtime.inspect(id)).toMatchObject({ state: { kind: 'running' } });
          await runtime.kill(id);
          expect(await ended(id)).toMatchObject({ exit: { code: 137, cause: 'killed' } });
          await runtime.kill(id);
        },
        TEST_TIMEOUT_MS,
      );
    });

    test('it says whether containers can be paused', async () => {
      expect((await runtime.inventory()).canPause ?? false).toBe(canPause);
      expect(runtime.freezer !== undefined).toBe(canPause);
    });

    test('it says what it means that a container is gone', () => {
      expect(runtime.isTakenAwayWhenGone ?? false).toBe(isTakenAwayWhenGone);
    });

    if (canPause)
      describe('a paused one', () => {
        const freezerOf = (from: ContainerRuntime): ContainerFreezer => {
          if (from.freezer === undefined) throw new Error('it cannot pause');
          return from.freezer;
        };
        const stateOf = async (id: WorkerId, from = runtime): Promise<string | undefined> =>
          (await from.inspect(id))?.state.kind;
        const paused = async (...args: readonly string[]): Promise<WorkerId> => {
          const id = await started(...args);
          await eventually(async () => expect(await runtime.logs(id, 1)).toHaveLength(1), DEADLINE);
          await freezerOf(runtime).pause(id);
          return id;
        };

        test(
          'is listed as paused, and goes on where it stood in the same life',
          async () => {
            const id = await paused('tick');
            const before = await runtime.inspect(id);
            expect(before?.state.kind).toBe('paused');
            expect((await runtime.list()).map(({ state }) => state.kind)).toEqual(['paused']);
            const ticks = (await runtime.logs(id, 1_000)).length;
            await freezerOf(runtime).resume(id);
            // It counts on: what it had in its memory is still there.
            await logsHave(id, `tick ${String(ticks + 2)}`);
            expect(await runtime.logs(id, 1_000)).toContain('tick 1');
            expect(await runtime.inspect(id)).toEqual({ ...before, state: { kind: 'running' } });
          },
          TEST_TIMEOUT_MS,
        );

        test(
          'may be paused and resumed twice, and a start leaves it as it is',
          async () => {
            const start = startOf(['wait']);
            const first = await runtime.start(start);
            await freezerOf(runtime).pause(idOf(start));
            await freezerOf(runtime).pause(idOf(start));
            expect(await runtime.start(start)).toMatchObject({
              containerId: first.containerId,
              state: { kind: 'paused' },
            });
            await freezerOf(runtime).resume(idOf(start));
            await freezerOf(runtime).resume(idOf(start));
            expect(await stateOf(idOf(start))).toBe('running');
          },
          TEST_TIMEOUT_MS,
        );

        test(
          'is found by a successor, which may let it go on',
          async () => {
            const id = await paused('wait');
            const successor = await bench.open();
            expect((await successor.list()).map(({ state }) => state.kind)).toEqual(['paused']);
            await freezerOf(successor).resume(id);
            expect(await stateOf(id, successor)).toBe('running');
            await successor.close();
          },
          TEST_TIMEOUT_MS,
        );

        test(
          'hears a stop',
          async () => {
            const id = await paused('wait');
            await runtime.stop(id, 10_000);
            expect(await ended(id)).toMatchObject({ exit: { code: 0 } });
            expect(await runtime.logs(id, 10)).toEqual(['ready', 'leaving']);
          },
          TEST_TIMEOUT_MS,
        );

        test(
          'is killed',
          async () => {
            const id = await paused('stubborn');
            await runtime.kill(id);
            expect(await ended(id)).toMatchObject({ exit: { code: 137, cause: 'killed' } });
          },
          TEST_TIMEOUT_MS,
        );

        test(
          'is removed until nothing is left',
          async () => {
            const id = await paused('stubborn');
            await runtime.remove(id);
            expect(await runtime.list()).toEqual([]);
          },
          TEST_TIMEOUT_MS,
        );

        test(
          'is none that is absent or has ended: to pause or resume such is success and does nothing',
          async () => {
            const id = await started('exit', '0', 'done');
            await ended(id);
            for (const each of [id, 'nobody' as WorkerId]) {
              await freezerOf(runtime).pause(each);
              await freezerOf(runtime).resume(each);
            }
            expect(await stateOf(id)).toBe('ended');
            expect(await runtime.inspect('nobody' as WorkerId)).toBeNull();
          },
          TEST_TIMEOUT_MS,
        );
      });

    describe('remove', () => {
      test(
        'takes a running one away until nothing is left',
        async () => {
          const id = await started('stubborn');
          await logsHave(id, 'ready');
          await runtime.remove(id);
          expect(await runtime.inspect(id)).toBeNull();
          expect(await runtime.list()).toEqual([]);
          expect(await runtime.logs(id, 10)).toEqual([]);
          await runtime.remove(id);
        },
        TEST_TIMEOUT_MS,
      );
    });

    test(
      'verbs on a worker that was never there succeed',
      async () => {
        const id = 'nobody' as WorkerId;
        await runtime.stop(id, 1_000);
        await runtime.kill(id);
        await runtime.remove(id);
        expect(await runtime.inspect(id)).toBeNull();
        expect(await runtime.logs(id, 10)).toEqual([]);
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'logs gives the last lines only',
      async () => {
        const id = await started('count', '200');
        await ended(id);
        expect(await runtime.logs(id, 3)).toEqual(['line 198', 'line 199', 'line 200']);
        expect(await runtime.logs(id, 0)).toEqual([]);
      },
      TEST_TIMEOUT_MS,
    );

    describe('follow', () => {
      const forever = new AbortController().signal;
      const readAll = async (id: WorkerId, from: string | null = null): Promise<PrintedBatch[]> => {
        const batches: PrintedBatch[] = [];
        for await (const batch of runtime.follow(id, from, forever)) batches.push(batch);
        return batches;
      };
      const textsOf = (batches: readonly PrintedBatch[]): string[] =>
        batches.flatMap(({ lines }) => lines.map(({ text }) => text));
      const numbered = (from: number, to: number): string[] =>
        Array.from({ length: to - from + 1 }, (_, index) => `line ${String(from + index)}`);

      test(
        'tells all that a worker prints, in its order, and ends with it',
        async () => {
          const id = await started('count', '500');
          const batches = await readAll(id);
          expect(textsOf(batches)).toEqual(numbered(1, 500));
          expect(batches.some(({ isGap }) => isGap)).toBe(false);
          expect(await readAll(id, batches.at(-1)?.position)).toEqual([]);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'goes on behind any position, also with a successor, without a line lost or told twice',
        async () => {
          const id = await started('count', '500');
          await ended(id);
          const told: string[] = [];
          let position: string | null = null;
          for (let reader = 0; reader < 1_000 && told.length < 500; reader += 1) {
            const successor = await bench.open();
            const left = new AbortController();
            for await (const batch of successor.follow(id, position, left.signal)) {
              told.push(...textsOf([batch]));
              ({ position } = batch);
              if (reader < 3) break;
            }
            left.abort();
            await successor.close();
          }
          expect(told).toEqual(numbered(1, 500));
          expect(await readAll(id, position)).toEqual([]);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'tells while the worker runs, and leaves when it is told to',
        async () => {
          const id = await started('wait');
          const left = new AbortController();
          const batches: PrintedBatch[] = [];
          for await (const batch of runtime.follow(id, null, left.signal)) {
            batches.push(batch);
            left.abort();
          }
          expect(textsOf(batches)).toEqual(['ready']);
          expect(await runtime.inspect(id)).toMatchObject({ state: { kind: 'running' } });
          await runtime.stop(id, 10_000);
          expect(textsOf(await readAll(id, batches.at(-1)?.position))).toEqual(['leaving']);
        },
        TEST_TIMEOUT_MS,
      );

      test(
        'begins anew with another container, ends when it is removed, and is over at once without one',
        async () => {
          const start = startOf(['exit', '0', 'first']);
          await runtime.start(start);
          const first = await readAll(idOf(start));
          await ended(idOf(start));
          await runtime.start({ ...start, args: ['wait'] });
          const second: string[] = [];
          for await (const batch of runtime.follow(idOf(start), first.at(-1)?.position ?? null, forever)) {
            second.push(...textsOf([batch]));
            if (second.includes('ready')) await runtime.remove(idOf(start));
          }
          expect([textsOf(first), second]).toEqual([['first'], ['ready']]);
          expect(await readAll(idOf(start))).toEqual([]);
        },
        TEST_TIMEOUT_MS,
      );
    });

    test(
      'a successor finds, hears and ends what its predecessor started',
      async () => {
        const predecessor = await bench.open();
        const runs = startOf(['wait']);
        const dies = startOf(['exit', '7', 'gone']);
        const life = await predecessor.start(runs);
        await predecessor.start(dies);
        await predecessor.close();

        const successor = await bench.open();
        expect(await ended(idOf(dies), successor)).toMatchObject({ exit: { code: 7 } });
        const found = await successor.list();
        expect(found.map(({ labels }) => labels).sort(byWorker)).toEqual([runs.labels, dies.labels].sort(byWorker));
        expect(await successor.inspect(idOf(runs))).toMatchObject({
          containerId: life.containerId,
          state: { kind: 'running' },
        });
        await eventually(async () => expect(await successor.logs(idOf(runs), 10)).toEqual(['ready']), DEADLINE);
        await successor.stop(idOf(runs), 10_000);
        expect(await ended(idOf(runs), successor)).toMatchObject({ exit: { code: 0 } });
        await successor.close();
      },
      TEST_TIMEOUT_MS,
    );
  });
}

const byWorker = (a: { readonly workerId: string }, b: { readonly workerId: string }): number =>
  a.workerId.localeCompare(b.workerId);
