import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '@berth/testing';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { GoCalls } from './clients/go-calls.js';
import { environmentWith } from './config.js';
import { clientPython } from './stack/official-client.js';

const run = promisify(execFile);
const FOLDER = resolve(import.meta.dirname, 'clients');
/** The table of `docs/compatibility.md` is made from it: `npm run compatibility`. */
const REPORT = resolve(import.meta.dirname, '../../../.cache/client-matrix.json');
const STACK_MS = 300_000;
const CLIENT_MS = 300_000;
jest.setTimeout(CLIENT_MS);

const JOB_COUNTS = ['completed', 'failed', 'inProgress', 'inQueue', 'retried'];
const WORKER_COUNTS = ['idle', 'initializing', 'ready', 'running', 'throttled', 'unhealthy'];
const CHUNKS = [0, 1, 2].map((index) => ({ index, echo: { chunks: 3 } }));

let stack: StartedStack;
let echoId: string;
let streamId: string;

/** Features, and what each client calls them in its report; a client that is not named has no such operation. */
const FEATURES = [
  { title: 'Submit, then ask for the result', python: 'run', javascript: 'run', go: 'statusSync' },
  { title: 'Submit and wait', python: 'run_sync', javascript: 'runSync', go: 'runSync' },
  { title: 'Status', python: 'run', javascript: 'status', go: 'status' },
  { title: 'Input that is wrapped already', python: 'wrapped_input' },
  { title: 'A job that fails', python: 'failure', javascript: 'failure', go: 'failure' },
  { title: 'Stream', python: 'stream', javascript: 'stream', go: 'stream' },
  { title: 'Cancel', python: 'cancel', javascript: 'cancel', go: 'cancel' },
  { title: 'Purge the queue', python: 'purge_queue', javascript: 'purgeQueue', go: 'purgeQueue' },
  { title: 'Health', python: 'health', javascript: 'health', go: 'health' },
  { title: 'Unknown job', python: 'unknown_job' },
  { title: 'Wrong key', python: 'wrong_key' },
  { title: 'Submit, status and cancel by asyncio', python: 'asyncio' },
  { title: 'Stream by asyncio (the older client has no end)', python: 'asyncio_stream' },
] as const;

type Language = 'python' | 'javascript' | 'go';

/** What each client did as it should, by the names of its own report. */
const seen = new Map<string, { readonly language: Language; readonly did: ReadonlySet<string> }>();

const note = (name: string, language: Language, report: object): void => {
  seen.set(name, { language, did: new Set(Object.keys(report)) });
};

const matrix = (): object => ({
  versions: [...seen.keys()],
  features: FEATURES.map(({ title, ...names }: (typeof FEATURES)[number] & Partial<Record<Language, string>>) => ({
    title,
    differs: Object.fromEntries(
      [...seen].flatMap(([name, { did, language }]) => (did.has(names[language] ?? '') ? [[name, '']] : [])),
    ),
  })),
});

beforeAll(async () => {
  stack = await StartedStack.start(['--runtime', 'process', '--demo', 'off']);
  const client = new TenantClient(() => stack.dev);
  const create = async (name: string, args: string): Promise<string> => {
    const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
      name,
      type: 'QUEUE',
      image: 'local/python-echo',
      args,
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: 1, max: 1 },
    });
    return body.id;
  };
  [echoId, streamId] = [await create('echo', ''), await create('stream', 'stream')];
  // A client waits a minute for its result; what a worker needs to be made is not its concern here.
  for (const endpointId of [echoId, streamId]) {
    await eventually(
      async () => {
        const { body } = await client.job('GET', `/${endpointId}/health`);
        expect(body).toMatchObject({ workers: { idle: 1 } });
      },
      { deadlineMs: STACK_MS, intervalMs: 250 },
    );
  }
}, STACK_MS);

afterAll(async () => {
  await stack.stop();
  await stack.remove();
  await mkdir(dirname(REPORT), { recursive: true });
  await writeFile(REPORT, `${JSON.stringify(matrix(), null, 2)}\n`);
}, STACK_MS);

/** The last line that a client printed. */
async function drive(program: string, args: readonly string[]): Promise<object> {
  const env = environmentWith({ RUNPOD_ENDPOINT_BASE_URL: `${stack.dev.runUrl}/v2`, API_KEY: stack.dev.apiKey });
  const { stdout } = await run(program, args, { env, timeout: CLIENT_MS }).catch((error: unknown) => {
    // Jest takes a text below the first line for a stack, and shows none of it.
    throw new Error(`the client failed: ${JSON.stringify(error)}`, { cause: error });
  });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as object;
}

describe('unmodified, with one changed URL', () => {
  test.each(['1.7.6', '1.12.0'])('the Python client %s', async (version) => {
    const script = join(FOLDER, 'python-client.py');
    const report = await drive(await clientPython(version), [script, echoId, streamId]);
    expect(report).toEqual({
      run: { output: { echo: { message: 'ahoy' } }, status: 'COMPLETED' },
      run_sync: { echo: { message: 'in sync' } },
      wrapped_input: { echo: { message: 'wrapped' } },
      failure: { status: 'FAILED', output: null },
      stream: { chunks: CHUNKS, status: 'COMPLETED' },
      cancel: ['IN_PROGRESS', 'CANCELLED'],
      purge_queue: ['removed', 'status'],
      health: [JOB_COUNTS, WORKER_COUNTS],
      unknown_job: '404',
      wrong_key: 'RuntimeError',
      asyncio: {
        output: { echo: { message: 'async' } },
        status: 'COMPLETED',
        cancelled: 'CANCELLED',
      },
      ...(version === '1.7.6' ? {} : { asyncio_stream: CHUNKS }),
    });
    note(`Python ${version}`, 'python', report);
  });

  test('the JavaScript client 1.1.2', async () => {
    const { apiKey, runUrl } = stack.dev;
    const script = join(FOLDER, 'javascript-client.mjs');
    const report = await drive(process.execPath, [script, `${runUrl}/v2`, apiKey, echoId, streamId]);
    expect(report).toEqual({
      run: { accepted: 'IN_QUEUE', ended: 'COMPLETED' },
      status: { output: { echo: { message: 'ahoy' } }, completed: true, succeeded: true },
      runSync: { status: 'COMPLETED', output: { echo: { message: 'in sync' } } },
      failure: { status: 'FAILED', error: expect.stringContaining('wanted') as unknown },
      stream: CHUNKS,
      cancel: 'CANCELLED',
      purgeQueue: expect.arrayContaining(['removed', 'status']) as unknown,
      health: expect.arrayContaining(WORKER_COUNTS) as unknown,
    });
    note('JavaScript 1.1.2', 'javascript', report);
  });

  test('the calls of the Go client', async () => {
    const { apiKey, runUrl } = stack.dev;
    const [go, goStream] = [echoId, streamId].map((id) => new GoCalls(`${runUrl}/v2/${id}`, apiKey)) as [
      GoCalls,
      GoCalls,
    ];
    const { id = '' } = await go.run({ message: 'ahoy' });
    const report = {
      statusSync: (await go.statusSync(id)).output,
      status: (await go.status(id)).status,
      runSync: (await go.runSync({ message: 'in sync' })).output,
      failure: (await go.runSync({ error: 'wanted' })).status,
      stream: await goStream.stream((await goStream.run({ chunks: 3 })).id ?? ''),
      cancel: (await go.cancel((await go.run({ sleep: 60 })).id ?? '')).status,
      purgeQueue: (await go.purgeQueue()).status,
      health: Object.keys((await go.health())['jobs'] as object).sort(),
    };
    expect(report).toEqual({
      statusSync: { echo: { message: 'ahoy' } },
      status: 'COMPLETED',
      runSync: { echo: { message: 'in sync' } },
      failure: 'FAILED',
      stream: CHUNKS.map((output) => ({ output, metrics: {} })),
      cancel: 'CANCELLED',
      purgeQueue: 'completed',
      health: JOB_COUNTS,
    });
    note('Go (its calls)', 'go', report);
  });
});
