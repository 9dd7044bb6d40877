import { JOB_VERBS, inboxPrefix, type JobVerb } from '@berth/contracts';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { newWorkerId } from './bench/control-plane.js';
import { RouterBench } from './bench/router-bench.js';
import { completed, refOf, type TakeOutcome } from './bench/scripted-agent.js';

const bench = new RouterBench();

describe('a worker that asks for jobs', () => {
  test('gets one that comes meanwhile', async () => {
    const { client, agent } = await bench.scene();
    const waiting = agent.take({ waitMs: 10_000 });
    await agent.take({ waitMs: 1 });
    const id = await client.run({});
    expect(await waiting).toMatchObject({ kind: 'jobs', jobs: [{ jobId: id }] });
  });

  test('and goes gets no job any more, whichever router holds its takes, and others get theirs', async () => {
    const second = await bench.startRouter();
    const { client, agent } = await bench.scene();
    const replies: TakeOutcome[] = [];
    const takes = Array.from({ length: 8 }, async () => replies.push(await agent.take({ waitMs: 20_000 })));
    await agent.take({ waitMs: 0 });
    // A router that still looks for its endpoint when it hears of the withdrawal does not hold the take yet.
    await eventually(() => {
      agent.withdraw();
      expect(replies).toEqual(takes.map(() => ({ kind: 'none' })));
    });
    const id = await client.run({});
    expect(await agent.takeOne()).toMatchObject({ jobId: id, attempt: 1 });
    await second.stop();
  });

  test('that is not assigned to its host is told so', async () => {
    const { client, agent, hostId, endpointId } = await bench.scene();
    await client.run({});
    const stranger = await bench.agent({ ...agent.place, hostId: await bench.controlPlane.host() });

    expect(await agent.take({ workerId: newWorkerId(), waitMs: 100 })).toEqual({ kind: 'not-placed' });
    expect(await stranger.take({ waitMs: 100 })).toEqual({ kind: 'not-placed' });
    const late = newWorkerId();
    await bench.controlPlane.assign(endpointId, [{ id: late, hostId }]);
    expect(await agent.take({ workerId: late })).toMatchObject({ kind: 'jobs' });
  });

  test('that drains, or whose host drains, gets nothing new', async () => {
    const { client, agent, hostId, endpointId } = await bench.scene();
    const id = await client.run({});
    await bench.controlPlane.assign(endpointId, [{ id: agent.place.workerId, hostId, isDraining: true }]);
    await eventually(async () => {
      expect(await agent.take({ waitMs: 0 })).toEqual({ kind: 'none' });
    });
    await bench.controlPlane.assign(endpointId, [{ id: agent.place.workerId, hostId }]);
    await bench.controlPlane.host({ id: hostId, isDraining: true });
    let waiting = id;
    await eventually(async () => {
      const answer = await agent.take({ waitMs: 0 });
      // The router has heard of the worker before it hears of the host: another job waits then.
      if (answer.kind === 'jobs') waiting = await client.run({});
      expect(answer).toEqual({ kind: 'none' });
    });
    expect((await client.status(waiting)).body.status).toBe('IN_QUEUE');
  });

  test('of a host that was removed is refused', async () => {
    const { agent, hostId } = await bench.scene();
    await agent.take({ waitMs: 1 });
    await bench.controlPlane.revokeHost(hostId);
    await eventually(async () => {
      await expect(agent.take({ waitMs: 1 })).rejects.toMatchObject({ code: 'host-not-found' });
    });
  });

  test.each([
    [{ slots: 0 }],
    [{ slots: 65 }],
    [{ slots: 1.5 }],
    [{ waitMs: 20_001 }],
    [{ waitMs: -1 }],
    [{ workerId: 'a.b' as never }],
    [{ workerId: '>' as never }],
  ])('with %j is refused', async (more) => {
    const { agent } = await bench.scene();
    await expect(agent.take(more)).rejects.toMatchObject({ code: 'invalid-fields' });
  });
});

describe('what a host reports', () => {
  test('of a job that another host holds is dropped', async () => {
    const { client, agent, endpointId, hostId } = await bench.scene();
    const otherHost = await bench.controlPlane.host();
    const otherWorker = newWorkerId();
    await bench.controlPlane.assign(endpointId, [
      { id: agent.place.workerId, hostId },
      { id: otherWorker, hostId: otherHost },
    ]);
    const other = await bench.agent({ endpointId, workerId: otherWorker, hostId: otherHost });
    const id = await client.run({ secret: 1 });
    const job = await agent.takeOne();

    expect(await other.complete(job, 'stolen')).toEqual({ outcome: 'superseded' });
    expect(await other.chunk(job, 0, '{}' as never)).toEqual({ outcome: 'superseded' });
    expect(await other.ask('download', { ...refOf(job), part: 0 })).toEqual({ base64: null });
    expect(await agent.complete({ ...job, token: 'guess' }, 'wrong')).toEqual({ outcome: 'superseded' });
    expect(await agent.complete(job, 'right')).toEqual({ outcome: 'recorded' });
    expect((await client.status(id)).body.output).toBe('right');
  });

  test('in one renewal of many leases is answered lease by lease, in order', async () => {
    const { client, agent } = await bench.scene();
    await client.run({});
    await client.run({});
    const [a, b] = [await agent.takeOne(), await agent.takeOne()];
    await agent.complete(b, 1);

    expect(await agent.renew(a, b, { ...a, token: 'other' }, a)).toEqual([
      'renewed',
      'lost',
      'lost',
      expect.any(String),
    ]);
  });
});

describe('the order of jobs', () => {
  test('one worker gets jobs in the order of their acceptance', async () => {
    const { client, agent } = await bench.scene();
    const ids: string[] = [];
    for (let n = 0; n < 40; n += 1) ids.push(await client.run({ n }));
    const taken: string[] = [];
    while (taken.length < ids.length) {
      const reply: TakeOutcome = await agent.take({ slots: 3 });
      if (reply.kind === 'jobs') taken.push(...reply.jobs.map(({ jobId }) => jobId));
    }
    expect(taken).toEqual(ids);
  });

  test('low priority runs after normal jobs that wait', async () => {
    const { client, agent } = await bench.scene();
    const low = await client.run({}, { policy: { lowPriority: true } });
    const normal = await client.run({});
    expect([(await agent.takeOne()).jobId, (await agent.takeOne()).jobId]).toEqual([normal, low]);
  });
});

describe('a host that was removed', () => {
  test('is refused with whatever it asks or reports, and nothing of it is taken', async () => {
    const { client, agent, hostId } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await bench.controlPlane.revokeHost(hostId);
    const ref = refOf(job);
    const asks = {
      take: { wishes: [] },
      renew: { leases: [ref] },
      chunk: { ...ref, index: 0, body: {} },
      progress: { ...ref, output: { kind: 'inline', json: {} } },
      download: { ...ref, part: 0 },
      upload: { ...ref, part: 0, base64: '' },
      done: { ends: [{ ...ref, result: { kind: 'completed', output: null }, chunks: 0 }] },
    } satisfies Record<JobVerb, object>;
    await eventually(async () => {
      await expect(agent.ask('renew', asks.renew)).rejects.toMatchObject({ code: 'host-not-found' });
    });
    for (const verb of JOB_VERBS) {
      await expect(agent.ask(verb, asks[verb])).rejects.toMatchObject({ code: 'host-not-found' });
    }
    expect((await client.status(id)).body.status).toBe('IN_PROGRESS');
  });

  test('gets no job for a take that a router held when it was removed, and the job waits uncharged', async () => {
    const { client, agent, hostId, endpointId } = await bench.scene();
    const held = agent.take({ waitMs: 20_000 });
    await agent.take({ waitMs: 0 });
    await bench.controlPlane.revokeHost(hostId);
    await eventually(async () => {
      await expect(agent.take({ waitMs: 0 })).rejects.toMatchObject({ code: 'host-not-found' });
    });
    const id = await client.run({});
    expect(await held).toEqual({ kind: 'not-placed' });
    const place = { endpointId, workerId: newWorkerId(), hostId: await bench.controlPlane.host() };
    await bench.controlPlane.assign(endpointId, [{ id: place.workerId, hostId: place.hostId }]);
    const other = await bench.agent(place);
    expect(await other.takeOne()).toMatchObject({ jobId: id, attempt: 2 });
  });
});

describe('a host that has gone', () => {
  test('costs no job its time: what was taken for it waits again at once, uncharged', async () => {
    const { client, agent, hostId } = await bench.scene();
    const connection = await bench.nats.connect({ inboxPrefix: inboxPrefix(hostId) });
    const reply = `${inboxPrefix(hostId)}.gone`;
    const subscription = connection.subscribe(reply);
    const { endpointId, workerId } = agent.place;
    const body = { wishes: [{ takeId: 'gone', endpointId, workerId, slots: 1, waitMs: 10_000 }] };
    connection.publish(`agents.${hostId}.up.job.take`, JSON.stringify({ v: 1, body }), { reply });
    await connection.flush();
    await agent.take({ waitMs: 1 });
    subscription.unsubscribe();
    await connection.close();
    const id = await client.run({});

    const job = await agent.takeOne(5_000);
    expect(job).toMatchObject({ jobId: id, attempt: 2 });
    await agent.complete(job, 1);
    expect((await client.status(id)).body).toMatchObject({ status: 'COMPLETED' });
  });
});

test('300 jobs submitted at once all complete, each once', async () => {
  const { client, agent } = await bench.scene();
  const executions = new Map<string, number>();
  agent.serve(async (job) => {
    executions.set(job.jobId, (executions.get(job.jobId) ?? 0) + 1);
    return completed(JSON.parse(await agent.inputOf(job)));
  }, 16);
  const sentAtMs = systemClock.monotonicMs();
  const ids = await Promise.all(Array.from({ length: 300 }, (_, n) => client.run({ n })));
  const acceptedMs = systemClock.monotonicMs() - sentAtMs;
  await eventually(
    async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ completed: 300, inQueue: 0, inProgress: 0 });
    },
    { deadlineMs: 90_000 },
  );
  const doneMs = systemClock.monotonicMs() - sentAtMs;
  const answers = await Promise.all(ids.map((id) => client.status(id)));

  expect(answers.map(({ body }) => Number(body.output.n))).toEqual(ids.map((_, n) => n));
  expect([...executions.values()].every((times) => times === 1)).toBe(true);
  expect(new Set(ids).size).toBe(300);
  process.stdout.write(`300 jobs: accepted in ${Math.round(acceptedMs)} ms, done in ${Math.round(doneMs)} ms\n`);
});
