import { describe, expect, jest, test } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { useNatsServer } from '@berth/testing';
import type { NatsRole } from '../src/index.js';

// Real servers on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(60_000);

const nats = useNatsServer({ access: 'roles' });

/** The server refuses before it answers a ping, so after a flush every refusal is known. */
const refusalsOf = async (client: NatsConnection, act: () => void): Promise<string[]> => {
  const refused: string[] = [];
  const statuses = client.status();
  const reading = (async () => {
    for await (const status of statuses) if (status.type === 'error') refused.push(status.error.message);
  })();
  act();
  await client.flush();
  await client.flush();
  (statuses as unknown as { stop(): void }).stop();
  await reading;
  return refused;
};

const publishRefused = async (role: NatsRole, subjects: readonly string[]): Promise<string[]> => {
  const client = await nats.connectAs(role);
  const refusals = await refusalsOf(client, () => {
    for (const subject of subjects) client.publish(subject);
  });
  return refusals.map((text) => /Publish to "([^"]+)"/.exec(text)?.[1] ?? text);
};

const subscribeRefused = async (role: NatsRole, subjects: readonly string[]): Promise<string[]> => {
  const client = await nats.connectAs(role);
  const refused: string[] = [];
  for (const subject of subjects) {
    client.subscribe(subject, {
      callback: (error) => {
        if (error !== null) refused.push(subject);
      },
    });
  }
  await client.flush();
  await client.flush();
  return refused;
};

describe('access to the broker', () => {
  test('the router sets up and uses the streams of jobs', async () => {
    const client = await nats.connectAs('router');
    const manager = await jetstreamManager(client);
    const stream = { name: 'JOBS_0', subjects: ['job.0.>'], allow_direct: true, max_msgs_per_subject: 1 };
    await manager.streams.add(stream);
    await manager.streams.update('JOBS_0', { ...stream, max_msgs_per_subject: 2 });
    await manager.streams.add({ name: 'EV', sources: [{ name: 'JOBS_0' }] });
    const js = jetstream(client);
    const { seq } = await js.publish('job.0.e.j', 'record', { expect: { lastSubjectSequence: 0 } });
    expect((await manager.direct.getMessage('JOBS_0', { last_by_subj: 'job.0.e.j' }))?.string()).toBe('record');
    expect((await manager.streams.getMessage('JOBS_0', { seq }))?.string()).toBe('record');
    const events = await js.consumers.get('EV');
    expect((await events.next({ expires: 5_000 }))?.subject).toBe('job.0.e.j');
    expect(await manager.streams.deleteMessage('JOBS_0', seq, false)).toBe(true);
    expect((await manager.streams.purge('EV')).success).toBe(true);
  });

  test('management writes the buckets, the router reads and watches them', async () => {
    const written = await new Kvm(await nats.connectAs('management')).create('endpoints');
    await written.put('e1', 'spec');
    const read = await new Kvm(await nats.connectAs('router')).open('endpoints');
    expect((await read.get('e1'))?.string()).toBe('spec');
    const watch = await read.watch();
    for await (const entry of watch) {
      expect(entry.key).toBe('e1');
      break;
    }
    await expect(read.put('e1', 'forged')).rejects.toThrow(/Permissions Violation/);
  });

  test('controllers write the buckets too', async () => {
    const bucket = await new Kvm(await nats.connectAs('controllers')).create('assignments');
    await bucket.put('e1', 'workers');
    await bucket.delete('e1');
    expect((await bucket.get('e1'))?.operation).toBe('DEL');
  });

  test.each(['management', 'controllers'] as const)('%s cannot touch a job', async (role) => {
    const forbidden = [
      'job.0.e.j',
      'q.0.e.n.j.1',
      'lease.0.e.j.1',
      'out.0.e.j.1.1',
      'blob.0.e.j.in.1',
      'check.head',
      '$JS.API.STREAM.CREATE.JOBS_0',
      '$JS.API.STREAM.DELETE.JOBS_0',
      '$JS.API.STREAM.PURGE.JOBS_0',
      '$JS.API.STREAM.MSG.DELETE.JOBS_0',
      '$JS.API.STREAM.PURGE.EV',
      '$JS.API.DIRECT.GET.BLOB_0',
      '$JS.API.DIRECT.GET.OUT_0',
      '$JS.API.CONSUMER.CREATE.QUEUE_0.spy',
      'agents.h1.down.stop',
      'agents.h1.up.host.report',
      'rates.r1',
    ];
    expect(await publishRefused(role, forbidden)).toEqual(forbidden);
    const unheard = [
      'job.>',
      'jobn.>',
      'qn.>',
      'agents.*.up.job.take',
      '_INBOX.>',
      '_INBOX_router.>',
      '$KV.>',
      'rates.*',
      '>',
    ];
    expect(await subscribeRefused(role, unheard)).toEqual(unheard);
  });

  test('of the control plane the controllers alone read records and events, for the job history', async () => {
    const reading = [
      '$JS.API.STREAM.INFO.JOBS_0',
      '$JS.API.STREAM.MSG.GET.JOBS_0',
      '$JS.API.CONSUMER.CREATE.JOBS_15.tail',
      '$JS.API.DIRECT.GET.EV',
      '$JS.API.STREAM.MSG.GET.EV',
    ];
    expect(await publishRefused('controllers', reading)).toEqual([]);
    expect(await publishRefused('management', reading)).toEqual(reading);
  });

  test('routers ask management about the job history, and nobody else does or answers', async () => {
    const subjects = ['history.list', 'history.get'];
    expect(await publishRefused('router', subjects)).toEqual([]);
    expect(await subscribeRefused('management', subjects)).toEqual([]);
    expect(await publishRefused('controllers', subjects)).toEqual(subjects);
    expect(await subscribeRefused('controllers', subjects)).toEqual(subjects);
  });

  test('the router cannot write the control plane, nor speak for an agent, nor remove a stream', async () => {
    const forbidden = [
      '$KV.endpoints.e1',
      '$JS.API.STREAM.CREATE.KV_endpoints',
      '$JS.API.STREAM.PURGE.KV_endpoints',
      '$JS.API.STREAM.MSG.DELETE.KV_endpoints',
      '$JS.API.STREAM.DELETE.JOBS_0',
      '$JS.API.STREAM.CREATE.OTHER',
      '$JS.API.STREAM.CREATE.JOBS_16',
      'agents.h1.up.job.take',
      'agents.h1.down.wake',
      'control.changed',
      '_INBOX_management.x',
    ];
    expect(await publishRefused('router', forbidden)).toEqual(forbidden);
    const unheard = ['agents.*.up.host.join', 'agents.>', '_INBOX.>', '_INBOX_management.>', '$SYS.>', '>'];
    expect(await subscribeRefused('router', unheard)).toEqual(unheard);
  });

  test('each role hears what is meant for it', async () => {
    const fromAgents = ['agents.*.up.job.take', 'agents.*.up.job.withdraw'];
    expect(await subscribeRefused('gateway', [...fromAgents, '_INBOX_gateway.>'])).toEqual([]);
    expect(await subscribeRefused('router', ['jobn.>', 'qn.>', 'rates.*', '_INBOX_router.>'])).toEqual([]);
    expect(await subscribeRefused('sessions', ['agents.*.up.host.join', 'agents.*.up.host.report'])).toEqual([]);
    expect(await subscribeRefused('controllers', ['demand.*', 'control.changed'])).toEqual([]);
    expect(await subscribeRefused('router', ['control.pulse'])).toEqual([]);
    expect(await publishRefused('controllers', ['control.pulse'])).toEqual([]);
    expect(await publishRefused('router', ['demand.r1', 'rates.r1', 'agents.h1.down.stop'])).toEqual([]);
    expect(await publishRefused('management', ['control.changed', 'agents.h1.down.wake'])).toEqual([]);
  });

  test('whoever hears agents writes to agents and nowhere else, whatever it is asked to answer to', async () => {
    const forbidden = [
      'job.0.e.j',
      'lease.0.e.j.1',
      '$KV.endpoints.e1',
      '$JS.API.INFO',
      '$JS.API.STREAM.PURGE.JOBS_0',
      'agents.h1.down.stop',
      'agents.h1.up.job.done',
      'control.changed',
      'history.list',
      '_INBOX_router.x',
      '_INBOX_management.x',
      '_INBOX_agentx.h1.x',
    ];
    for (const role of ['gateway', 'sessions'] as const) {
      expect(await publishRefused(role, forbidden)).toEqual(forbidden);
      expect(await publishRefused(role, ['_INBOX_agent.h1.x', '_INBOX_agent.h1.x.1'])).toEqual([]);
      const unheard = ['_INBOX_agent.*.>', '_INBOX_router.>', 'jobn.>', '$KV.>', 'history.*', 'agents.*.down.>', '>'];
      expect(await subscribeRefused(role, unheard)).toEqual(unheard);
    }
  });

  test('who writes jobs or buckets hears no agent, so no agent chooses where it writes', async () => {
    const fromAgents = ['agents.*.up.job.take', 'agents.*.up.job.withdraw', 'agents.*.up.host.join'];
    for (const role of ['router', 'management', 'controllers'] as const) {
      expect(await subscribeRefused(role, fromAgents)).toEqual(fromAgents);
    }
  });

  test('the callout user only answers, in an account without streams', async () => {
    const forbidden = ['anything', '$JS.API.INFO', 'agents.h1.down.stop'];
    expect(await publishRefused('callout', forbidden)).toEqual(forbidden);
    expect(await subscribeRefused('callout', ['agents.>', '>'])).toEqual(['agents.>', '>']);
  });

  test('the system user sees connections and cannot change the server', async () => {
    const client = await nats.connectAs('system');
    const answer = await client.request('$SYS.REQ.SERVER.PING.CONNZ', JSON.stringify({}), { timeout: 5_000 });
    expect(answer.json<{ data: { num_connections: number } }>().data.num_connections).toBeGreaterThan(0);
    const forbidden = ['$SYS.REQ.SERVER.ABC.RELOAD', '$SYS.REQ.SERVER.ABC.LDM', '$SYS.REQ.ACCOUNT.APP.CONNZ'];
    expect(await publishRefused('system', forbidden)).toEqual(forbidden);
  });
});
