import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InstalledStack, type Answer } from './stack/installed-stack.js';

const START_MS = 240_000;
const TEST_MS = 240_000;
const WHEN_DONE = { deadlineMs: 90_000, intervalMs: 200 };
/** Too large to lie in the log itself. */
const LARGE = 'ahoy '.repeat(60_000);
const WAITING = 12;
const CHUNKS = 3;

const tempFolder = useTempFolders();
let home: string;
let stack: InstalledStack;
let endpointId: string;
let token: string;
let doneId: string;
let streamedId: string;
let waitingIds: readonly string[];

const backupFile = (): string => join(home, 'backup.tar.gz');

beforeAll(async () => {
  home = await tempFolder();
  stack = await InstalledStack.open(home, 3);
  await stack.migrate();
  await stack.startProcesses();
}, START_MS);
afterAll(() => stack.close(), START_MS);

const jobUrl = (path: string): string => `${stack.runUrl}/v2/${endpointId}/${path}`;

const statusOf = (id: string): Promise<Answer> => stack.call('GET', jobUrl(`status/${id}`));

const submit = (message: string, more: object = {}): Promise<string> =>
  eventually(async () => {
    const answer = await stack.call('POST', jobUrl('run'), { body: { input: { message, ...more } } });
    expect(answer).toMatchObject({ status: 200, body: { status: 'IN_QUEUE' } });
    return (answer.body as { readonly id: string }).id;
  });

const untilCompleted = (id: string, message: string): Promise<void> =>
  eventually(async () => {
    const { body } = await statusOf(id);
    expect(body).toMatchObject({ id, status: 'COMPLETED', output: { echo: { message } } });
    expect(body).toMatchObject({ delayTime: expect.any(Number), executionTime: expect.any(Number) });
  }, WHEN_DONE);

const restore = async (path: string, changed: Readonly<Record<string, string>> = {}): Promise<string> =>
  stack.berth(['restore', path, '--json'], { ...(await stack.environment('restore')), ...changed });

test(
  'is taken of a system that runs, with jobs that are done and jobs that wait',
  async () => {
    const joined = await stack.call('POST', `${stack.baseUrl}/v2/hosts/join-tokens`, { body: { name: 'box' } });
    token = (joined.body as { readonly token: string }).token;
    const host = await stack.startHost(token);
    const made = await stack.call('POST', `${stack.baseUrl}/v2/serverless`, {
      body: {
        ...{ name: 'node-echo', type: 'QUEUE', image: 'local/node-echo', cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
        ...{ scaling: { type: 'QUEUE_DELAY', queueDelay: 1 }, workers: { min: 0, max: 1, idleTimeout: 60 } },
        env: { PASSWORD: 'swordfish' },
      },
    });
    expect(made.status).toBe(201);
    endpointId = String((made.body as { readonly id: string }).id);
    doneId = await submit(LARGE);
    await untilCompleted(doneId, LARGE);
    streamedId = await submit('streamed', { chunks: CHUNKS });
    await eventually(async () => {
      expect((await statusOf(streamedId)).body).toMatchObject({ status: 'COMPLETED' });
    }, WHEN_DONE);
    await host.stop();
    waitingIds = await Promise.all(Array.from({ length: WAITING }, (_, at) => submit(`waits ${String(at)}`)));

    const said = await stack.berth(['backup', backupFile(), '--json'], await stack.environment('backup'));
    expect(JSON.parse(said)).toMatchObject({ path: backupFile(), version: expect.any(String) });
    expect((await stat(backupFile())).mode & 0o777).toBe(0o600);
    expect(JSON.parse(said)).toMatchObject({ messages: expect.any(Number) });
    await expect(stack.berth(['backup', backupFile()], await stack.environment('backup'))).rejects.toThrow(
      'is there already',
    );
    const otherKey = { ...(await stack.environment('backup')), BERTH_SECRET_KEY: randomBytes(32).toString('base64') };
    await expect(stack.berth(['backup', join(home, 'unreadable.tar.gz')], otherKey)).rejects.toThrow(
      /BERTH_SECRET_KEY opens none of the \d+ secrets in the database/,
    );
  },
  TEST_MS,
);

test(
  'is not put over a system that runs',
  async () => {
    await expect(restore(backupFile())).rejects.toThrow('The database is in use by berth-');
    expect((await statusOf(doneId)).body).toMatchObject({ status: 'COMPLETED' });
  },
  TEST_MS,
);

test(
  'is refused where it would not be whole, and then nothing is changed',
  async () => {
    await stack.loseEverything();
    await expect(restore(backupFile())).rejects.toThrow('Run the migration first');
    await stack.migrate();
    const bytes = await readFile(backupFile());
    const [damaged, cutOff] = [join(home, 'damaged.tar.gz'), join(home, 'cut-off.tar.gz')];
    await writeFile(damaged, bytes.with(bytes.length >> 1, (bytes.at(bytes.length >> 1) ?? 0) ^ 1));
    await writeFile(cutOff, bytes.subarray(0, bytes.length >> 1));
    await expect(restore(damaged)).rejects.toThrow(/is damaged: .* Nothing was changed/);
    await expect(restore(cutOff)).rejects.toThrow(/is damaged: .* Nothing was changed/);
    const otherKey = { BERTH_SECRET_KEY: randomBytes(32).toString('base64') };
    await expect(restore(backupFile(), otherKey)).rejects.toThrow('sealed with another BERTH_SECRET_KEY');
  },
  TEST_MS,
);

test(
  'is put into an empty system, where everything is there and goes on',
  async () => {
    await restore(backupFile());
    await expect(restore(backupFile())).rejects.toThrow('The database is not empty');
    await stack.startProcesses();
    const endpoint = await stack.call('GET', `${stack.baseUrl}/v2/serverless/${endpointId}`);
    expect(endpoint).toMatchObject({ status: 200, body: { name: 'node-echo', env: { PASSWORD: 'swordfish' } } });
    await untilCompleted(doneId, LARGE);
    const streamed = await stack.call('GET', jobUrl(`stream/${streamedId}`));
    expect((streamed.body as { readonly stream: readonly unknown[] }).stream).toHaveLength(CHUNKS);
    for (const id of waitingIds) expect((await statusOf(id)).body).toMatchObject({ id, status: 'IN_QUEUE' });
    // The host comes back as whom it was: what it was told when it joined is in its own folder.
    await stack.startHost(token);
    await Promise.all(waitingIds.map((id, at) => untilCompleted(id, `waits ${String(at)}`)));
    const further = await submit('afterwards');
    await untilCompleted(further, 'afterwards');
    const log = await stack.checkLog(endpointId);
    expect(log).toContain('WHOLE');
    expect(log).toContain(`${String(WAITING + 3)} COMPLETED`);
  },
  TEST_MS,
);
