import { connect } from 'node:net';
import { toRawJson, type RawJson } from '@berth/domain';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { RouterBench, type Scene, type TestRouter } from './bench/router-bench.js';
import type { SeenEvent } from './bench/read-events.js';

const bench = new RouterBench();
const chunk = (value: unknown): RawJson => toRawJson(JSON.stringify({ output: value }));
const outputsOf = (events: readonly SeenEvent[]): unknown[] =>
  events.filter(({ event }) => event === 'message').map(({ data }) => (JSON.parse(data) as { output: unknown }).output);

const metricOf = async (router: TestRouter, name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${router.operationsPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
};

/** A job that has streamed 0, 1, 2 … and is done. */
async function doneJob({ client, agent }: Scene, count: number): Promise<string> {
  const id = await client.run({});
  const job = await agent.takeOne();
  for (let index = 0; index < count; index += 1) await agent.chunk(job, index, chunk(index));
  await agent.done(job, { kind: 'completed', output: null }, count);
  return id;
}

describe('/stream as server-sent events', () => {
  test('tells each chunk before the next is made, then the end, and ends', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const reader = await client.events(`/stream/${id}`);
    expect(reader.status).toBe(200);
    expect(Object.fromEntries(reader.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    const events = reader.events();
    const job = await agent.takeOne();
    for (const index of [0, 1, 2]) {
      await agent.chunk(job, index, chunk(`piece\n${index}`));
      const { value } = await events.next();
      expect(value).toEqual({
        event: 'message',
        id: `a1-${index + 1}`,
        data: `{"output":"piece\\n${index}","metrics":{}}`,
      });
    }
    await agent.done(job, { kind: 'failed', error: 'out of ink', output: null }, 3);
    expect((await events.next()).value).toEqual({
      event: 'status',
      id: 'a1-3-end',
      data: '{"status":"FAILED","error":"out of ink"}',
    });
    expect(await events.next()).toMatchObject({ done: true });
    expect(reader.retryMs).toBe(1_000);
  });

  test('goes on after every place at which it may be cut, here or at another router, by header or query', async () => {
    const second = await bench.startRouter();
    const scene = await bench.scene();
    const far = bench.client(scene.endpointId, scene.tenant, second);
    const id = await doneJob(scene, 12);
    const whole = await (await scene.client.events(`/stream/${id}`)).all();
    expect(outputsOf(whole)).toEqual(Array.from({ length: 12 }, (_, n) => n));

    for (let cut = 1; cut <= 12; cut += 1) {
      const first = await (await scene.client.events(`/stream/${id}`)).take(cut);
      const place = first.at(-1)?.id ?? '';
      const rest = await (await far.events(`/stream/${id}?cursor=a1-0`, { 'last-event-id': place })).all();
      expect([...first, ...rest]).toEqual(whole);
      const again = await (
        await scene.client.events(`/stream/${id}?cursor=${place}&format=sse`, { accept: '*/*' })
      ).all();
      expect(again).toEqual(rest);
    }
    await second.stop();
  });

  test('a reader that has heard of the end is told that there is nothing to come back for', async () => {
    const scene = await bench.scene();
    const id = await doneJob(scene, 1);
    const [, end] = await (await scene.client.events(`/stream/${id}`)).all();
    const again = await scene.client.events(`/stream/${id}`, { 'last-event-id': end?.id ?? '' });
    expect(again.status).toBe(204);
    const refused = await scene.client.call(`/stream/${id}`, { headers: { 'last-event-id': 'nonsense' } });
    expect(refused.status).toBe(400);
  });

  test('another attempt is told before its chunks, also to a reader that was away meanwhile', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const events = (await client.events(`/stream/${id}`)).events();
    const lost = await agent.takeOne();
    await agent.chunk(lost, 0, chunk('old'));
    expect((await events.next()).value).toMatchObject({ id: 'a1-1' });
    await agent.done(lost, { kind: 'lost', reason: 'drained', isCharged: false });
    expect((await events.next()).value).toEqual({ event: 'attempt', id: 'a2-0', data: '{"attempt":2}' });
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('new'));
    expect((await events.next()).value).toMatchObject({ event: 'message', id: 'a2-1' });
    await agent.done(job, { kind: 'completed', output: null }, 1);
    expect((await events.next()).value).toMatchObject({ event: 'status' });

    const late = await (await client.events(`/stream/${id}`, { 'last-event-id': 'a1-1' })).all();
    expect(late.map(({ event, id: place }) => `${event} ${place}`)).toEqual([
      'attempt a2-0',
      'message a2-1',
      'status a2-1-end',
    ]);
  });

  test('by POST too; unknown jobs and foreign keys are refused before anything is sent', async () => {
    const scene = await bench.scene();
    const id = await doneJob(scene, 1);
    const posted = await scene.client.events(`/stream/${id}`, {}, { method: 'POST' });
    expect([posted.status, (await posted.all()).length]).toEqual([200, 2]);
    const unknown = await scene.client.call('/stream/none', { headers: { accept: 'text/event-stream' } });
    expect(unknown.status).toBe(404);
    expect(unknown.body.error).toMatch(/No such job/);
  });

  test('a cancelled job ends its streams', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.takeOne();
    const events = (await client.events(`/stream/${id}`)).events();
    const first = events.next();
    await client.call(`/cancel/${id}`, { method: 'POST' });
    expect((await first).value).toMatchObject({ event: 'status', data: '{"status":"CANCELLED"}' });
  });

  test('a reader that goes away costs nothing any more', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const before = await metricOf(bench.router, 'berth_router_waiting_callers');
    const gone = new AbortController();
    const reader = await client.events(`/stream/${id}`, {}, { signal: gone.signal });
    expect(await metricOf(bench.router, 'berth_router_streamed_answers')).toBe(1);
    const ended = reader.all().catch(() => 'aborted');
    gone.abort();
    expect(await ended).toBe('aborted');
    await eventually(async () => {
      expect(await metricOf(bench.router, 'berth_router_streamed_answers')).toBe(0);
      expect(await metricOf(bench.router, 'berth_router_waiting_callers')).toBe(before);
    });
    await agent.complete(await agent.takeOne(), 1);
  });

  test('a router that stops ends its streams in order, and another one goes on without a gap', async () => {
    const second = await bench.startRouter();
    const { agent, client, endpointId, tenant } = await bench.scene();
    const id = await client.run({});
    const leaving = (await bench.client(endpointId, tenant, second).events(`/stream/${id}`)).events();
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('a'));
    const { value } = await leaving.next();
    const stopped = second.stop();
    expect(await leaving.next()).toMatchObject({ done: true });
    await stopped;
    await agent.chunk(job, 1, chunk('b'));
    await agent.done(job, { kind: 'completed', output: null }, 2);
    const rest = await (await client.events(`/stream/${id}`, { 'last-event-id': (value as SeenEvent).id })).all();
    expect(outputsOf(rest)).toEqual(['b']);
  });

  test('a reader that takes nothing holds a bounded part of a long stream', async () => {
    const { client, agent, endpointId, tenant } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    const large = chunk('x'.repeat(900_000));
    for (let index = 0; index < 40; index += 1) await agent.chunk(job, index, large);
    await agent.done(job, { kind: 'completed', output: null }, 40);
    const { hostname, port } = new URL(bench.router.url);
    const socket = connect(Number(port), hostname);
    socket.pause();
    socket.write(
      `GET /v2/${endpointId}/stream/${id} HTTP/1.1\r\nhost: x\r\naccept: text/event-stream\r\nauthorization: Bearer ${tenant.key}\r\n\r\n`,
    );
    await eventually(async () => {
      expect(await metricOf(bench.router, 'berth_router_streamed_answers_bytes')).toBeGreaterThan(0);
    });
    expect(await metricOf(bench.router, 'berth_router_streamed_answers_bytes')).toBeLessThan(12_000_000);
    socket.destroy();
    await eventually(async () => {
      expect(await metricOf(bench.router, 'berth_router_streamed_answers_bytes')).toBe(0);
    });
    expect(outputsOf(await (await client.events(`/stream/${id}`)).all())).toHaveLength(40);
  });
});
