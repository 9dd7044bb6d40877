import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { identifyProcess, isAlive, systemClock, systemRandom, type ProcessIdentity } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { testMachine } from '../../../test/test-machine.js';
import type { ContainerStart } from '../container-runtime.port.js';
import type { RuntimeError } from '../runtime-error.js';
import { ProcessRuntime, type ProcessRuntimeOptions } from './process-runtime.js';

const newFolder = useTempFolders();
const W1 = 'w1' as WorkerId;
const W2 = 'w2' as WorkerId;
const IMAGE = { image: 'local/probe:dev', credentials: null };

let root: string;
let image: string;
let runtime: ProcessRuntime;
const strangers: ChildProcess[] = [];

/** A process that is no worker. */
function newStranger(): { readonly pid: number } {
  const stranger = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  strangers.push(stranger);
  return { pid: Number(stranger.pid) };
}

const openRuntime = (more: Partial<ProcessRuntimeOptions> = {}): Promise<ProcessRuntime> =>
  ProcessRuntime.open({
    workersFolder: join(root, 'workers'),
    imagesFolder: join(root, 'images'),
    machine: testMachine(),
    clock: systemClock,
    random: systemRandom,
    environment: { PATH: '/usr/bin:/bin' },
    setupEnvironment: { PATH: '/usr/bin:/bin', FROM_OPERATOR: 'yes' },
    ...more,
  });

beforeEach(async () => {
  root = await newFolder();
  image = join(root, 'images', 'probe');
  await mkdir(image, { recursive: true });
  runtime = await openRuntime();
});
afterEach(async () => {
  for (const stranger of strangers.splice(0)) stranger.kill('SIGKILL');
  for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
  await runtime.close();
});

const writeImage = (script: string, setup: readonly string[] = []): Promise<unknown> =>
  Promise.all([
    writeFile(join(image, 'worker.json'), JSON.stringify({ command: ['/bin/sh', 'worker.sh'], setup })),
    writeFile(join(image, 'worker.sh'), script),
  ]);
const startOf = (workerId: WorkerId): ContainerStart => ({
  labels: {
    hostId: 'host1' as HostId,
    workerId,
    endpointId: 'endpoint1' as EndpointId,
    release: 1,
    image: 'local/probe',
  },
  args: [],
  env: {},
  limits: { vcpus: 1, memoryBytes: 0, diskBytes: null },
  gpu: null,
});
const failureOf = (call: Promise<unknown>): Promise<RuntimeError> =>
  call.then(
    () => Promise.reject(new Error('nothing was wrong')),
    (error: unknown) => error as RuntimeError,
  );
const linesOf = (file: string): Promise<readonly string[]> =>
  readFile(join(image, file), 'utf8').then((text) => text.trim().split('\n'));
const hasEnded = (workerId: WorkerId): Promise<void> =>
  eventually(async () => {
    expect((await runtime.inspect(workerId))?.state.kind).toBe('ended');
  });

describe('setup', () => {
  const COUNT = 'echo run >>runs.txt';

  test('runs in the folder, in order, with the operator’s environment, and tells what it prints', async () => {
    await writeImage('true', ['echo one >made.txt; echo hello', 'cat made.txt; echo $FROM_OPERATOR >>made.txt']);
    const progress: string[] = [];
    await runtime.prepare(IMAGE, { onProgress: (line) => progress.push(line) });
    expect(await linesOf('made.txt')).toEqual(['one', 'yes']);
    expect(progress).toEqual(expect.arrayContaining(['hello', 'one']));
  });

  test('runs once for one content, also for another agent and for two at a time', async () => {
    await writeImage('true', ['sleep 0.1', COUNT]);
    const other = await openRuntime({ workersFolder: join(root, 'others') });
    await Promise.all([runtime.prepare(IMAGE), other.prepare(IMAGE), runtime.prepare(IMAGE)]);
    await other.prepare(IMAGE);
    await other.close();
    expect(await linesOf('runs.txt')).toEqual(['run']);
  });

  test('runs again when the content changed, and not because of what it made itself', async () => {
    await writeImage('true', [
      COUNT,
      'mkdir -p made; date +%N >made/new; date +%N >>worker.json.log; printf " " >>worker.sh',
    ]);
    await runtime.prepare(IMAGE);
    await runtime.prepare(IMAGE);
    expect(await linesOf('runs.txt')).toHaveLength(1);
    await writeFile(join(image, 'more.txt'), 'more');
    await runtime.prepare(IMAGE);
    await runtime.prepare(IMAGE);
    expect(await linesOf('runs.txt')).toHaveLength(2);
    await writeImage('echo changed', [COUNT]);
    await runtime.prepare(IMAGE);
    expect(await linesOf('runs.txt')).toHaveLength(3);
  });

  test('runs again in a folder that was moved', async () => {
    await writeImage('true', [COUNT]);
    await runtime.prepare(IMAGE);
    await rename(image, join(root, 'images', 'moved'));
    await runtime.prepare({ image: 'local/moved', credentials: null });
    image = join(root, 'images', 'moved');
    expect(await linesOf('runs.txt')).toHaveLength(2);
  });

  test('that fails says which line and what it printed, and is tried again', async () => {
    await writeImage('true', ['true', 'echo "no such package" >&2; exit 3', COUNT]);
    const failure = await failureOf(runtime.prepare(IMAGE));
    expect(failure).toMatchObject({ reason: 'setup-failed', isTemporary: false });
    expect(failure.message).toMatch(/exit 3" ended with code 3: no such package/);
    await writeImage('true', [COUNT]);
    await runtime.prepare(IMAGE);
    expect(await linesOf('runs.txt')).toHaveLength(1);
  });

  test('that takes too long is ended with all that it started', async () => {
    await writeImage('true', ['sleep 1000 & echo $! >pid.txt; wait']);
    const clock = new ManualClock();
    const hasty = await openRuntime({ clock, setupTimeoutMs: 300, workersFolder: join(root, 'others') });
    const failed = failureOf(hasty.prepare(IMAGE));
    await eventually(async () => expect(await linesOf('pid.txt')).toHaveLength(1));
    await clock.advance(300);
    const failure = await failed;
    await hasty.close();
    expect(failure).toMatchObject({ reason: 'setup-failed' });
    expect(failure.message).toContain('no end within its time limit');
    const pid = Number((await linesOf('pid.txt'))[0]);
    await eventually(async () => expect(await identifyProcess(pid)).toBeNull());
  });

  test('that is cancelled ends, and lets the next one in', async () => {
    await writeImage('true', ['echo begun >begun.txt; sleep 1000']);
    const cancel = new AbortController();
    const failed = failureOf(runtime.prepare(IMAGE, { signal: cancel.signal }));
    await eventually(() => linesOf('begun.txt'));
    cancel.abort();
    expect(await failed).toMatchObject({ reason: 'cancelled' });
    await writeImage('true', [COUNT]);
    await runtime.prepare(IMAGE);
  });

  test('of a killed agent is ended and taken over', async () => {
    await writeImage('true', [COUNT]);
    const { pid } = newStranger();
    const command = await identifyProcess(pid);
    const holder: ProcessIdentity = { pid, startedAt: 'before the last reboot' };
    await mkdir(join(image, '.berth'));
    await writeFile(join(image, '.berth', 'setup.lock'), JSON.stringify({ holder, command }));
    await runtime.prepare(IMAGE);
    expect(await linesOf('runs.txt')).toHaveLength(1);
    await eventually(async () => expect(await isAlive(command ?? holder)).toBe(false));
    expect(await readdir(join(image, '.berth'))).toEqual(['setup.json', 'setup.log']);
  });
});

describe('an image that cannot be used', () => {
  const manifest = (text: string): Promise<void> => writeFile(join(image, 'worker.json'), text);

  test.each([
    ['no manifest', async () => undefined, 'worker.json cannot be read'],
    ['no JSON', () => manifest('{'), 'it is not JSON'],
    ['no command', () => manifest('{"setup":[]}'), '"command" must be'],
    ['an empty command', () => manifest('{"command":[]}'), '"command" must be'],
    ['a setup that is no list', () => manifest('{"command":["x"],"setup":"y"}'), '"setup" must be'],
  ])('is missing: %s', async (_, arrange, why) => {
    await arrange();
    const failure = await failureOf(runtime.prepare(IMAGE));
    expect(failure).toMatchObject({ reason: 'image-missing' });
    expect(failure.message).toContain(why);
  });

  test.each(['python:3.12', 'local/../../etc', 'local/.hidden', 'local/probe/deeper', 'local/'])(
    'is missing: %s names no folder here',
    async (name) => {
      await writeImage('true');
      expect(await failureOf(runtime.prepare({ image: name, credentials: null }))).toMatchObject({
        reason: 'image-missing',
      });
    },
  );
});

describe('a worker', () => {
  test('has a folder of its own; what the setup made is there too', async () => {
    await writeImage('cat made/tool; echo mine >note.txt; pwd; echo $HOME; cat note.txt; sleep 1000', [
      'mkdir made; echo tool >made/tool',
    ]);
    await runtime.prepare(IMAGE);
    await runtime.start(startOf(W1));
    await runtime.start(startOf(W2));
    const lines = await eventually(async () => {
      const both = await Promise.all([runtime.logs(W1, 10), runtime.logs(W2, 10)]);
      expect(both.map(({ length }) => length)).toEqual([4, 4]);
      return both;
    });
    expect(lines[0]?.[0]).toBe('tool');
    expect(lines[0]?.[1]).not.toBe(lines[1]?.[1]);
    expect(lines[0]?.[1]).toBe(lines[0]?.[2]);
    expect(await readdir(image)).not.toContain('note.txt');
  });

  test('gets no environment but what it was given', async () => {
    await writeImage('env | cut -d = -f 1 | sort');
    await runtime.start({ ...startOf(W1), env: { GIVEN: 'yes' } });
    await hasEnded(W1);
    const names = await runtime.logs(W1, 20);
    expect(names.filter((name) => !['_', 'OLDPWD', 'SHLVL'].includes(name))).toEqual([
      'BERTH_WORKER_FOLDER',
      'GIVEN',
      'HOME',
      'PATH',
      'PWD',
      'TMPDIR',
    ]);
  });

  test('whose program cannot be found ends at once and says so', async () => {
    await writeFile(join(image, 'worker.json'), JSON.stringify({ command: ['no-such-program'] }));
    await runtime.start(startOf(W1));
    await hasEnded(W1);
    expect(await runtime.inspect(W1)).toMatchObject({ state: { exit: { code: 127 } } });
    expect((await runtime.logs(W1, 5)).join()).toContain('not found');
  });

  test('that is killed from outside has ended, and says what may be behind it', async () => {
    await writeImage('echo $$; exec sleep 1000');
    await runtime.start(startOf(W1));
    const pid = await eventually(async () => {
      const [line] = await runtime.logs(W1, 1);
      expect(line).toMatch(/^\d+$/);
      return Number(line);
    });
    process.kill(pid, 'SIGKILL');
    await hasEnded(W1);
    expect(await runtime.inspect(W1)).toMatchObject({ state: { exit: { code: 137, cause: 'killed' } } });
  });

  test('takes along what has left its group when it is removed', async () => {
    await writeImage('setsid sleep 1000 & echo $!; wait');
    await runtime.start(startOf(W1));
    const pid = await eventually(async () => {
      const [line] = await runtime.logs(W1, 1);
      const found = (await readFile(`/proc/${String(Number(line))}/cmdline`, 'utf8')).includes('sleep');
      expect(found).toBe(true);
      return Number(line);
    });
    await runtime.remove(W1);
    expect(await identifyProcess(pid)).toBeNull();
  });

  test('ends by itself when its folder was thrown away', async () => {
    await writeImage('echo $$; exec sleep 1000');
    await runtime.start(startOf(W1));
    const pid = await eventually(async () => {
      const [line] = await runtime.logs(W1, 1);
      expect(line).toMatch(/^\d+$/);
      return Number(line);
    });
    await rm(join(root, 'workers'), { recursive: true });
    await eventually(async () => expect(await identifyProcess(pid)).toBeNull(), { deadlineMs: 90_000 });
  });

  test('leaves nothing running when its program ends', async () => {
    await writeImage('sleep 1000 & echo $!');
    await runtime.start(startOf(W1));
    await hasEnded(W1);
    const [pid] = await runtime.logs(W1, 1);
    await eventually(async () => expect(await identifyProcess(Number(pid))).toBeNull());
  });

  test('is not taken for a stranger who was given its pid', async () => {
    await writeImage('true');
    await runtime.start(startOf(W1));
    await hasEnded(W1);
    const stranger = newStranger();
    const folder = join(root, 'workers', W1);
    await rm(join(folder, 'exit'), { force: true });
    await writeFile(join(folder, 'identity'), `${String(stranger.pid)}\nan older boot\n1 (sh) S ${'1 '.repeat(40)}\n`);
    expect(await runtime.inspect(W1)).toMatchObject({
      state: { kind: 'ended', exit: { code: null, cause: 'unknown' } },
    });
    await runtime.stop(W1, 0);
    await runtime.kill(W1);
    await runtime.remove(W1);
    expect(await identifyProcess(stranger.pid)).not.toBeNull();
  });

  test('cannot fill the disk with what it prints', async () => {
    const small = await openRuntime({ logMaxBytes: 10_000 });
    await writeImage(
      'i=0; while [ $i -lt 400 ]; do echo "line $i of a worker that prints much"; i=$((i+1)); sleep 0.005; done; sleep 1000',
    );
    await small.start(startOf(W1));
    const folder = join(root, 'workers', W1);
    await eventually(async () => expect(await readdir(folder)).toContain('output.1.log'), { deadlineMs: 90_000 });
    await eventually(async () => expect((await small.logs(W1, 1))[0]).toContain('line 399'), { deadlineMs: 90_000 });
    expect((await readFile(join(folder, 'output.log'))).length).toBeLessThan(15_000);
    await small.close();
  });
});
