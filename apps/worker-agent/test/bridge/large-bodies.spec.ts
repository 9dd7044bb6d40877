import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BroadcastChannel } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { encodeJson } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { LargeBodies } from '../../src/bridge/bodies/large-bodies.js';
import { splitChunk } from '@berth/contracts';
import { MORTAL_THREAD } from './body-threads.js';
import { TestAgent, registration } from './test-agent.js';
import { WorkerClient } from './worker-client.js';

const MIB = 2 ** 20;
/** What the agent may read as one piece on the thread that serves everybody. */
const AT_ONCE_MAX = 64 * 1024;

let agent: TestAgent;
let worker: WorkerClient;

beforeEach(async () => {
  agent = await TestAgent.start(new ManualClock(1_000_000));
  worker = WorkerClient.register(agent, 'w1');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await agent.close();
});

async function runOne(by = worker): Promise<string> {
  agent.router.submit({ input: encodeJson({ n: 1 }) });
  return ((await by.take()).json as { id: string }).id;
}

/** Tiny objects by the million cost most to make. */
const swarm = (bytes: number, output = '1'): string =>
  `{"junk":[${'{},'.repeat(Math.floor(bytes / 3))}{}],"output":${output}}`;

describe('eight bodies of a hostile worker, each of millions of objects,', () => {
  test('are never parsed on the thread that renews the leases', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    const jobs: string[] = [];
    for (let count = 0; count < 8; count += 1) jobs.push(await runOne());
    const answers = await Promise.all(jobs.map((jobId) => worker.done(jobId, swarm(2 * MIB))));
    expect(answers.map(({ status }) => status)).toEqual(jobs.map(() => 200));
    await eventually(() => {
      for (const jobId of jobs) expect(agent.router.ended.get(jobId)?.output).toBe(1);
    });
    expect(Math.max(...parse.mock.calls.map(([text]) => text.length))).toBeLessThanOrEqual(AT_ONCE_MAX);
  });
});

describe('a large result', () => {
  test.each([
    [
      'numbers, spaces, names and characters as they came',
      '{ "z" : 1.50,"a":12345678901234567890, "ü\\u00fc" :"\\/🙂"}',
    ],
    ['a NaN between strings that name it', '["NaN", "a\\"NaN"]'],
  ])('keeps %s', async (_, inner) => {
    const jobId = await runOne();
    const filling = 'x'.repeat(MIB);
    expect(await worker.done(jobId, `{"junk":"${filling}","output":[${inner},"${filling}"]}`)).toMatchObject({
      status: 200,
    });
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.outputText === `[${inner},"${filling}"]`).toBe(true);
    });
  });

  test('of numbers that are none has null in their place', async () => {
    const jobId = await runOne();
    await worker.done(jobId, `{"output":[${'NaN,-Infinity,'.repeat(50_000)}0]}`);
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.outputText === `[${'null,null,'.repeat(50_000)}0]`).toBe(true);
    });
  });

  test.each([
    ['not JSON', 'x'.repeat(MIB), 'the worker posted a result that is not JSON'],
    [
      'nested a million levels deep and more',
      '['.repeat(1_100_000),
      'the worker posted a result that is nested too deeply',
    ],
    ['no object', `["${'x'.repeat(MIB)}"]`, 'the worker posted a result that is not a JSON object'],
    ['an error', `{"error":"broken","junk":"${'x'.repeat(MIB)}"}`, 'broken'],
  ])('that is %s fails its job in words', async (_, body, error) => {
    const jobId = await runOne();
    expect(await worker.done(jobId, body)).toMatchObject({ status: 200 });
    await eventually(() => {
      expect(agent.router.ended.get(jobId)?.result).toMatchObject({ kind: 'failed', error });
    });
  });

  test('of a job that the worker does not hold is not kept', async () => {
    expect(await worker.done('never-given', swarm(MIB))).toMatchObject({ status: 200 });
    expect(await agent.metric('berth_agent_results_dropped_total{reason="not-held"}')).toBe(1);
    expect(await agent.metric('berth_agent_bridge_body_bytes')).toBe(0);
  });
});

test('a large chunk is split in the thread as it would be here', async () => {
  const jobId = await runOne();
  const body = JSON.stringify({ output: { text: '"\\🙂'.repeat(400_000) }, metrics: { n: 1 } });
  expect(await worker.chunk(jobId, body)).toMatchObject({ status: 200 });
  const expected = splitChunk(body);
  // Counted, so that what fails does not print the texts.
  await eventually(() => expect(agent.router.chunkTexts(jobId).length).toBe(expected.length), { deadlineMs: 90_000 });
  expect(agent.router.chunkTexts(jobId).every((text, index) => text === expected[index])).toBe(true);
});

describe('a body that the thread cannot bear', () => {
  const marked = (mark: string): string => `{"output":"${mark}${'x'.repeat(MIB)}"}`;
  const UNREADABLE = { kind: 'failed', error: 'the worker posted a result that could not be read' };

  beforeEach(async () => {
    agent.bodyThread = MORTAL_THREAD;
    const port = await agent.crash();
    await agent.open(port);
    await agent.bridge.restore([registration('w1')]);
  });

  test('fails its own job, and the next one has a new thread', async () => {
    const [dying, living] = [await runOne(), await runOne()];
    const answers = await Promise.all([worker.done(dying, marked('DIE')), worker.done(living, marked('LIVE'))]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await eventually(() => {
      expect(agent.router.ended.get(dying)?.result).toMatchObject(UNREADABLE);
      expect(agent.router.ended.get(living)?.result).toMatchObject({ kind: 'completed' });
    });
    expect(await agent.metric('berth_agent_bodies_unreadable_total{sign="died"}')).toBe(1);
  });

  test('and keeps it for ever stops nobody else, and is given up after 20 s', async () => {
    const [stalling, waiting, small] = [await runOne(), await runOne(), await runOne()];
    const stalls = new BroadcastChannel('stalls');
    const stalled = worker.done(stalling, marked('STALL'));
    // Time must not be over for a thread that has yet to load its program.
    await once(stalls as unknown as EventTarget, 'message');
    stalls.close();
    expect(await agent.metric('berth_agent_bridge_body_bytes')).toBeGreaterThan(0);
    const next = worker.done(waiting, marked('LIVE'));
    expect(await worker.done(small, { output: 'small' })).toMatchObject({ status: 200 });
    expect(await worker.ping([stalling, waiting])).toMatchObject({ status: 200 });
    await eventually(async () => {
      await agent.pass(5_000);
      await worker.ping([stalling, waiting]);
      expect(await agent.metric('berth_agent_bodies_unreadable_total{sign="time"}')).toBe(1);
    });
    expect([(await stalled).status, (await next).status]).toEqual([200, 200]);
    await eventually(() => {
      expect(agent.router.ended.get(stalling)?.result).toMatchObject(UNREADABLE);
      expect(agent.router.ended.get(waiting)?.result).toMatchObject({ kind: 'completed' });
    });
  });
});

describe('an agent that stops while bodies are being read', () => {
  const block = (text: string) => ({ kind: 'done', blocks: [new Uint8Array(Buffer.from(text))] }) as const;

  test('lets them end', async () => {
    const bodies = new LargeBodies(MORTAL_THREAD, { clock: new ManualClock(), log: silentLogger });
    const readings = [bodies.read(block('{"output":1}')), bodies.read(block('{"output":2}'))];
    await bodies.close();
    const outputs = (await Promise.all(readings)).map((reading) => reading.kind === 'done' && reading.posted);
    expect(outputs).toMatchObject([{ ending: { output: '1' } }, { ending: { output: '2' } }]);
  });

  test('waits 5 s at most, and then says nothing of them: no job fails for it', async () => {
    const clock = new ManualClock();
    const bodies = new LargeBodies(MORTAL_THREAD, { clock, log: silentLogger });
    const readings = [bodies.read(block('STALL')), bodies.read(block('{"output":2}'))];
    const closing = bodies.close();
    await clock.advance(5_000);
    await closing;
    expect(await Promise.all(readings)).toEqual([{ kind: 'closed' }, { kind: 'closed' }]);
  });
});

describe('a body that is announced and hardly comes', () => {
  /** Sends the head and so much of a body of 40 MiB, and then nothing. */
  async function stall(
    by: WorkerClient,
    bytes: number,
  ): Promise<{ readonly socket: Socket; readonly answer: Promise<string> }> {
    const jobId = await runOne(by);
    const socket = connect(agent.bridge.port, '127.0.0.1');
    const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.on('error', () => undefined);
    const path = `/v2/ep1/job-done/${by.id}/${jobId}?&isStream=false`;
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: bridge\r\nauthorization: ${by.token}\r\ncontent-length: ${40 * MIB}\r\n\r\n`,
    );
    socket.write(Buffer.alloc(bytes, ' '));
    return { socket, answer };
  }

  const held = async (bytes: number): Promise<void> => {
    await eventually(async () => {
      expect(await agent.metric('berth_agent_bridge_body_bytes')).toBe(bytes);
    });
  };

  beforeEach(async () => {
    agent.bodyBounds = { workerBytesMax: 40 * MIB, hostBytesMax: 80 * MIB };
    const port = await agent.crash();
    await agent.open(port);
    await agent.bridge.restore(['w1', 'w2', 'w3'].map((id) => registration(id)));
  });

  test('keeps its worker’s other bodies waiting, and no other worker’s', async () => {
    const stalled = await stall(worker, MIB);
    await held(40 * MIB);
    const own = await runOne();
    const waiting = worker.done(own, `{"output":"${'x'.repeat(MIB)}"}`);
    const other = new WorkerClient(agent, 'w2');
    const jobId = await runOne(other);
    expect(await other.done(jobId, `{"output":"${'x'.repeat(MIB)}"}`)).toMatchObject({ status: 200 });
    expect(agent.router.ended.has(own)).toBe(false);
    stalled.socket.destroy();
    expect(await waiting).toMatchObject({ status: 200 });
    await held(0);
  });

  test('gives way once others wait, and its sender is told to send it again', async () => {
    const stalled = [await stall(worker, MIB), await stall(new WorkerClient(agent, 'w2'), MIB)];
    await held(80 * MIB);
    const other = new WorkerClient(agent, 'w3');
    const jobId = await runOne(other);
    const answer = other.done(jobId, `{"output":"${'x'.repeat(MIB)}"}`);
    await eventually(async () => {
      await agent.pass(1_000);
      expect(await agent.metric('berth_agent_bridge_refused_total{reason="slow"}')).toBeGreaterThan(0);
    });
    expect(await answer).toMatchObject({ status: 200 });
    expect(await stalled[0]?.answer).toMatch(/^HTTP\/1.1 503 /);
    for (const { socket } of stalled) socket.destroy();
    await held(0);
  });
});

test('a body in crumbs is refused long before its end', async () => {
  const jobId = await runOne();
  const socket = connect(agent.bridge.port, '127.0.0.1');
  socket.on('error', () => undefined);
  const answer = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
  socket.write(`POST /v2/ep1/job-done/w1/${jobId}?& HTTP/1.1\r\nhost: bridge\r\nauthorization: ${worker.token}\r\n`);
  socket.write('transfer-encoding: chunked\r\n\r\n');
  socket.write('1\r\n{\r\n'.repeat(10_000));
  expect(await answer).toMatch(/^HTTP\/1.1 503 /);
  expect(await agent.metric('berth_agent_bridge_refused_total{reason="crumbs"}')).toBe(1);
  socket.destroy();
});

test('a worker with far too many calls under way is told to slow down, and no other is', async () => {
  const head = (call: string): string =>
    `GET /v2/ep1/${call}/w1?& HTTP/1.1\r\nhost: bridge\r\nauthorization: ${worker.token}\r\n\r\n`;
  // A poll that is held keeps back the answers to what was sent after it.
  const sockets = Array.from({ length: 72 }, (_, order) => {
    const socket = connect(agent.bridge.port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(head(order < 64 ? 'job-take' : 'job-stop') + head('ping').repeat(7));
    return socket;
  });
  await eventually(async () => {
    expect(await agent.metric('berth_agent_bridge_refused_total{reason="calls"}')).toBeGreaterThan(0);
  });
  expect(await worker.ping()).toMatchObject({ status: 429 });
  expect(await WorkerClient.register(agent, 'w2').ping()).toMatchObject({ status: 200 });
  for (const socket of sockets) socket.destroy();
});

/** Sends so many heads at once, and waits until the bridge has ended the socket. */
async function sendAhead(head: string, heads: number): Promise<void> {
  const socket = connect(agent.bridge.port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  socket.write(head.repeat(heads));
  await new Promise((resolve) => socket.once('close', resolve));
}

test.each<[string, () => string]>([
  ['without a token', () => ''],
  ['of a worker', () => `authorization: ${worker.token}\r\n`],
])('a socket %s that sends thousands of requests ahead of their answers is ended, unread', async (...[, header]) => {
  const head = `GET /v2/ep1/job-stop/w1 HTTP/1.1\r\nhost: a\r\n${header()}\r\n`;
  await Promise.all(Array.from({ length: 6 }, () => sendAhead(head, 3_000)));
  expect(await agent.metric('berth_agent_bridge_calls_total{call="stop"}')).toBeLessThanOrEqual(6 * 8);
  expect(await WorkerClient.register(agent, 'w2').ping()).toMatchObject({ status: 200 });
});

test('callers without a token are kept waiting a few at a time of one address, and the rest is hung up on', async () => {
  const strangers = Array.from({ length: 20 }, () => new WorkerClient(agent, 'stranger').ping());
  await eventually(async () => {
    expect(await agent.metric('berth_agent_bridge_refused_total{reason="token"}')).toBe(20);
  });
  await agent.pass(5_000);
  const codes = (await Promise.all(strangers)).map(({ status }) => status).sort();
  expect(codes).toEqual([...Array.from({ length: 16 }, () => 401), ...Array.from({ length: 4 }, () => 429)]);
});
