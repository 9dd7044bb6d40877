import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { WorkerId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import type { LinkAnswer } from '@berth/tunnel';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ProcessBench } from './process-bench.js';
import { W1, W2 } from './worker-bench.js';

const newFolder = useTempFolders();

interface Told {
  readonly port: string;
  readonly healthPort: string;
  readonly pid: number;
}

let home: string;
let bench: ProcessBench;

beforeEach(async () => {
  home = await newFolder();
  bench = await ProcessBench.open(home);
});
afterEach(() => bench.close());

/** What the worker's health checks answer from now on. */
const answerWith = (status: number): Promise<void> => writeFile(join(home, 'health'), String(status));
const HEALTH = (): Readonly<Record<string, string>> => ({ HEALTH_FILE: join(home, 'health') });

const idle = (workerId: WorkerId) => bench.until(workerId, ({ phase }) => expect(phase).toBe('idle'));

async function admitted(workerId: WorkerId): Promise<Extract<LinkAnswer, { kind: 'admitted' }>['stream']> {
  const answer = await bench.open(workerId);
  if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
  return answer.stream;
}

async function told(workerId: WorkerId): Promise<Told> {
  const stream = await admitted(workerId);
  stream.end('GET /told HTTP/1.0\r\n\r\n');
  const answer = await text(stream);
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Told;
}

describe('load-balanced workers that are processes', () => {
  test('on one host get ports of their own, over those of their endpoint, and are reached by them', async () => {
    const env = { PORT: '80', PORT_HEALTH: '81' };
    bench.want({ [W1]: env, [W2]: env });
    const [first, second] = [await idle(W1), await idle(W2)];
    const ports = [first.port, first.healthPort, second.port, second.healthPort];
    expect(new Set([...ports, 80, 81]).size).toBe(6);
    for (const { workerId, port, healthPort } of [first, second]) {
      expect(await told(workerId)).toMatchObject({ port: String(port), healthPort: String(healthPort) });
    }
  });

  test('get requests from the first 200 on, and none while they say 204', async () => {
    await answerWith(204);
    bench.want({ [W1]: HEALTH() });
    const { phase } = await bench.until(W1, ({ reason }) => expect(reason).toContain('answered 204'));
    expect(phase).toBe('starting');
    expect(await bench.open(W1)).toEqual({ kind: 'refused', reason: 'unready' });
    await answerWith(200);
    await idle(W1);
    expect(await told(W1)).toMatchObject({ pid: expect.any(Number) });
  });

  test.each([204, 503])('that answer %i for too long are ended, and it is said why', async (status) => {
    await answerWith(status);
    bench.want({ [W1]: HEALTH() });
    const { phase } = await bench.until(W1, ({ reason }) => expect(reason).toContain(`answered ${status}`));
    expect(phase).toBe('starting');
    const container = await bench.containerOf(W1);
    expect(container).not.toBeNull();
    const failed = await bench.until(W1, ({ failedStarts }) => expect(failedStarts).toBeGreaterThan(0));
    expect(failed.reason).toContain(`answered ${status}`);
    expect(await bench.containerOf(W1)).not.toBe(container);
  });

  test('that end before they listen are told with what they printed', async () => {
    bench.want({ [W1]: { ENDS: 'there is no model' } });
    const { reason } = await bench.until(W1, ({ failedStarts }) => expect(failedStarts).toBeGreaterThan(0));
    expect(reason).toContain('code 3');
    expect(reason).toContain('there is no model');
  });

  test('that are out for too long are replaced, and the next one serves', async () => {
    await answerWith(200);
    bench.want({ [W1]: HEALTH() });
    await idle(W1);
    const { pid } = await told(W1);
    await answerWith(500);
    const { reason } = await bench.until(W1, ({ phase }) => expect(phase).toBe('unhealthy'));
    expect(reason).toContain('answered 500');
    expect(await bench.open(W1)).toEqual({ kind: 'refused', reason: 'unready' });
    await bench.until(W1, ({ failedStarts }) => expect(failedStarts).toBe(1));
    await answerWith(200);
    await idle(W1);
    expect((await told(W1)).pid).not.toBe(pid);
  });

  test('that crash while they serve cut off what they had, and the next one serves', async () => {
    bench.want({ [W1]: {} });
    await idle(W1);
    const { pid } = await told(W1);
    const stream = await admitted(W1);
    const heard: string[] = [];
    stream.on('data', (chunk: Buffer) => heard.push(chunk.toString())).on('error', () => undefined);
    stream.write('GET /part HTTP/1.1\r\nhost: worker\r\n\r\n');
    await eventually(() => expect(heard.join('')).toMatch(/\r\n\r\npart$/));
    await bench.until(W1, (observed) => expect(observed).toMatchObject({ phase: 'busy', runningJobs: 1 }));
    const closed = new Promise((resolve) => stream.once('close', resolve));
    process.kill(pid, 'SIGKILL');
    stream.end();
    await closed;
    await bench.until(W1, ({ failedStarts }) => expect(failedStarts).toBe(1));
    expect(await idle(W1)).toMatchObject({ runningJobs: 0 });
    expect((await told(W1)).pid).not.toBe(pid);
  });

  test.each(['127.0.0.1', '::1', '::'])('are reached where they listen at %s alone', async (HOST) => {
    bench.want({ [W1]: { HOST } });
    const { port } = await idle(W1);
    expect(await told(W1)).toMatchObject({ port: String(port) });
  });
});
