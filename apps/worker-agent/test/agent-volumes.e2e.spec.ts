import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DesiredWorker } from '@berth/contracts';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import { W1, W2 } from './worker-bench.js';

const SLOW = { deadlineMs: 90_000 };
const WORKERS = fileURLToPath(new URL('./workers', import.meta.url));
const VOLUME = { id: 'weights1', accountId: 'account1', sizeGb: 10 };

const { control, endOf, phase, start, submit } = useAgents();
const newFolder = useTempFolders();

/** An agent as another host has it: with a home and an identity of its own. */
async function startHost(name: string, volumes: string | null): Promise<ReturnType<typeof start>> {
  return start({
    ...{ BERTH_RUNTIME: 'process', BERTH_IMAGES: WORKERS, BERTH_HOME: await newFolder() },
    BERTH_JOIN_TOKEN: `bjt_${name}_abcdefghijklmnopqrst`,
    ...(volumes === null ? {} : { BERTH_VOLUMES: volumes }),
  });
}

const keeper = (workerId: typeof W1, more: Partial<DesiredWorker> = {}): DesiredWorker => ({
  ...exampleWorker(workerId, 'local/keeper'),
  volume: VOLUME,
  ...more,
});

const storageOf = (): string | undefined => control.reports.at(-1)?.inventory.volumes?.storageId;

test(
  'a file outlives its worker, its release and its host, on whatever host of the storage the next worker is',
  async () => {
    const shared = await newFolder();
    const first = await startHost('host1', shared);
    control.desired = [keeper(W1)];
    await phase(W1, 'idle');
    const storageId = storageOf();
    expect(storageId).toMatch(/^[a-z0-9]{14}$/);
    expect(control.observed(W1)?.notes?.join(' ')).toMatch(
      /at \$BERTH_VOLUME_PATH, not at \/runpod-volume.*not enforced/,
    );
    expect(await endOf(submit({ keep: 'one' }))).toMatchObject({ output: { lines: ['one'], volumeId: VOLUME.id } });
    expect(await first.end('SIGTERM')).toBe(0);

    const second = await startHost('host2', shared);
    control.desired = [keeper(W2, { release: 2 })];
    await phase(W2, 'idle');
    expect(storageOf()).toBe(storageId);
    expect(await endOf(submit({ keep: 'two' }))).toMatchObject({ output: { lines: ['one', 'two'] } });
    expect(await second.end('SIGTERM')).toBe(0);

    await startHost('host3', await newFolder());
    control.desired = [];
    await eventually(() => expect(storageOf()).not.toBe(storageId), SLOW);
  },
  TEST_TIMEOUT_MS,
);

test(
  'the files of a deleted volume go, and their host says so',
  async () => {
    const folder = await newFolder();
    await startHost('host1', folder);
    control.desired = [keeper(W1)];
    await phase(W1, 'idle');
    await endOf(submit({ keep: 'one' }));
    expect(await readdir(join(folder, VOLUME.accountId, VOLUME.id))).toEqual(['lines']);
    control.desired = [keeper(W1, { intent: 'drained' })];
    await phase(W1, 'removed');
    control.deletedVolumes = [VOLUME];
    await eventually(() => expect(control.reports.at(-1)?.clearedVolumeIds).toEqual([VOLUME.id]), SLOW);
    expect(await readdir(folder)).toEqual(['.berth-storage']);
  },
  TEST_TIMEOUT_MS,
);

test(
  'a host without a folder for volumes says that it has none, and starts no worker that needs one',
  async () => {
    await startHost('host1', null);
    control.desired = [keeper(W1)];
    await eventually(() => expect(control.observed(W1)?.reason).toContain('volume-unavailable'), SLOW);
    expect(storageOf()).toBeUndefined();
  },
  TEST_TIMEOUT_MS,
);
