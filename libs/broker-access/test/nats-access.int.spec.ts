import { describe, expect, test } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { NatsRole } from '../src/index.js';

const nats = useNatsServer({ access: 'roles' });
const PATIENT = { timeout: 60_000 };

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
    const manager = await jetstreamManager(client, PATIENT);
    const stream = { name: 'OUT_0', subjects: ['out.0.>'], allow_direct: true, max_msgs_per_subject: 1 };
    await manager.streams.add(stream);
    await manager.streams.update('OUT_0', { ...stream, max_msgs_per_subject: 2 });
    const js = jetstream(client);
    const { seq } = await js.publish('out.0.e.j.1.0', 'chunk', { expect: { lastSubjectSequence: 0 } });
    expect((await manager.direct.getMessage('OUT_0', { last_by_subj: 'out.0.e.j.1.0' }))?.string()).toBe('chunk');
    expect((await manager.streams.getMessage('OUT_0', { seq }))?.string()).toBe('chunk');
    const reading = await js.consumers.get('OUT_0');
    expect((await reading.next({ expires: 5_000 }))?.subject).toBe('out.0.e.j.1.0');
    expect(await manager.streams.deleteMessage('OUT_0', seq, false)).toBe(true);
    expect((await manager.streams.purge('OUT_0')).success).toBe(true);
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
      'log.0.e',
      'out.0.e.j.1.1',
      'blob.0.e.j.in.1',
      '$JS.API.STREAM.CREATE.LOG_0',
      '$JS.API.STREAM.DELETE.LOG_0',
      '$JS.API.STREAM.PURGE.LOG_0',
      '$JS.API.STREAM.MSG.DELETE.LOG_0',
      '$JS.API.DIRECT.GET.BLOB_0',
      '$JS.API.DIRECT.GET.OUT_0',
      '$JS.API.CONSUMER.CREATE.OUT_0.spy',
      'agents.h1.down.stop',
      'agents.h1.up.host.report',
      'rates.r1',
      'requests.r1',
    ];
    expect(await publishRefused(role, forbidden)).toEqual(forbidden);
    const unheard = [
      'log.>',
      'shard.>',
      'notice.>',
      'agents.*.up.job.take',
      '_INBOX.>',
      '_INBOX_router.>',
      '$KV.>',
      'rates.*',
      'requests.*',
      '>',
    ];
    expect(await subscribeRefused(role, unheard)).toEqual(unheard);
  });

  test('of the control plane the controllers alone read logs, for the job history', async () => {
    const reading = [
      '$JS.API.STREAM.INFO.LOG_0',
      '$JS.API.STREAM.MSG.GET.LOG_15',
      '$JS.API.DIRECT.GET.LOG_15',
      '$JS.API.CONSUMER.CREATE.LOG_15.tail',
    ];
    expect(await publishRefused('controllers', reading)).toEqual([]);
    expect(await publishRefused('management', reading)).toEqual(reading);
  });

  test('the controllers say how far the job history has read, and routers alone hear it', async () => {
    const subject = ['history.read'];
    expect(await publishRefused('controllers', subject)).toEqual([]);
    expect(await subscribeRefused('router', subject)).toEqual([]);
    for (const role of ['router', 'management', 'gateway', 'sessions'] as const) {
      expect(await publishRefused(role, subject)).toEqual(subject);
      if (role !== 'router') expect(await subscribeRefused(role, subject)).toEqual(subject);
    }
  });

  test('routers ask management about the job history, and nobody else does or answers', async () => {
    const subjects = ['history.list', 'history.get'];
    expect(await publishRefused('router', subjects)).toEqual([]);
    expect(await subscribeRefused('management', subjects)).toEqual([]);
    expect(await publishRefused('controllers', subjects)).toEqual(subjects);
    expect(await subscribeRefused('controllers', subjects)).toEqual(subjects);
  });

  test('the role that hears agents alone asks them for logs, and hears what they answer', async () => {
    const [asked, answered] = [['agents.h1.down.logs'], ['agents.*.up.logs.asker.*']];
    expect(await publishRefused('sessions', asked)).toEqual([]);
    expect(await subscribeRefused('sessions', answered)).toEqual([]);
    for (const role of ['management', 'controllers', 'router', 'gateway'] as const) {
      expect(await publishRefused(role, asked)).toEqual(asked);
      expect(await subscribeRefused(role, answered)).toEqual(answered);
    }
  });

  test('the router cannot write the control plane, nor speak for an agent, nor remove a stream', async () => {
    const forbidden = [
      '$KV.endpoints.e1',
      '$JS.API.STREAM.CREATE.KV_endpoints',
      '$JS.API.STREAM.PURGE.KV_endpoints',
      '$JS.API.STREAM.MSG.DELETE.KV_endpoints',
      '$JS.API.STREAM.DELETE.LOG_0',
      '$JS.API.STREAM.CREATE.OTHER',
      '$JS.API.STREAM.CREATE.LOG_16',
      'agents.h1.up.job.take',
      'agents.h1.down.wake',
      'control.changed',
      '_INBOX_management.x',
    ];
    expect(await publishRefused('router', forbidden)).toEqual(forbidden);
    const unheard = ['agents.*.up.host.join', 'agents.>', '_INBOX.>', '_INBOX_management.>', '$SYS.>', '>'];
    expect(await subscribeRefused('router', unheard)).toEqual(unheard);
  });

  test('routers set up and write logs and claims of shards, ask each other and answer', async () => {
    const [asking, owning] = [await nats.connectAs('router'), await nats.connectAs('router')];
    const manager = await jetstreamManager(owning, PATIENT);
    for (const shard of [0, 15]) {
      const [name, subject] = [`LOG_${shard}`, `log.${shard}.e`];
      await manager.streams.add({ name, subjects: [subject] });
      await jetstream(owning).publish(subject, 'batch', { expect: { lastSubjectSequence: 0 } });
      expect((await manager.streams.purge(name, { filter: subject, keep: 1 })).success).toBe(true);
    }
    await manager.streams.add({ name: 'KV_shards', subjects: ['$KV.shards.>'], max_msgs_per_subject: 1 });
    const { seq } = await jetstream(owning).publish('$KV.shards.claim.0', 'claim');
    expect((await manager.streams.getMessage('KV_shards', { seq }))?.string()).toBe('claim');
    const noticed: string[] = [];
    asking.subscribe('notice.asking', {
      callback: (_, message) => {
        noticed.push(message.string());
      },
    });
    owning.subscribe('shard.0.*', {
      callback: (_, message) => {
        message.respond(`answer to ${message.subject}`);
      },
    });
    owning.subscribe('router.owning', {
      callback: (_, message) => {
        message.respond();
      },
    });
    owning.subscribe('history.read', { callback: () => undefined });
    await Promise.all([asking.flush(), owning.flush()]);
    expect((await asking.request('shard.0.find', '', PATIENT)).string()).toBe('answer to shard.0.find');
    expect((await asking.request('router.owning', '', PATIENT)).data).toHaveLength(0);
    await expect(asking.request('router.gone', '', PATIENT)).rejects.toThrow(/no responders/i);
    owning.publish('notice.asking', 'moved');
    await eventually(() => expect(noticed).toEqual(['moved']));
    const beyond = ['$JS.API.STREAM.CREATE.LOG_16', '$JS.API.STREAM.DELETE.LOG_0', '$JS.API.STREAM.DELETE.KV_shards'];
    expect(await publishRefused('router', beyond)).toEqual(beyond);
  });

  test('who copies jobs can change nothing, and who puts a copy back can only make and take away whole streams', async () => {
    const changing = ['LOG_0', 'OUT_0', 'BLOB_0', 'KV_shards', 'KV_endpoints'].flatMap((stream) =>
      ['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.DELETE', 'RESTORE'].map(
        (verb) => `$JS.API.STREAM.${verb}.${stream}`,
      ),
    );
    const written = ['log.0.e', 'out.0.e.j.1.0', 'blob.0.e.j.input.0', '$KV.shards.router.r1', '$KV.endpoints.e1'];
    const forbidden = [...changing, ...written, '$KV.shards.claim.0', 'agents.h1.down.stop'];
    expect(await publishRefused('backup', forbidden)).toEqual(forbidden);
    const copied = ['$JS.API.STREAM.SNAPSHOT.LOG_0', '$JS.SNAPSHOT.ACK.OUT_0.x.1.2', '$JS.API.STREAM.INFO.BLOB_0'];
    expect(await publishRefused('backup', copied)).toEqual([]);
    const beyond = ['$JS.API.STREAM.PURGE.LOG_0', '$JS.API.STREAM.MSG.DELETE.LOG_0', '$JS.API.STREAM.UPDATE.LOG_0'];
    const ofOthers = ['$JS.API.STREAM.DELETE.KV_endpoints', '$JS.API.STREAM.SNAPSHOT.LOG_0'];
    expect(await publishRefused('restore', [...written, ...beyond, ...ofOthers])).toEqual([
      ...written,
      ...beyond,
      ...ofOthers,
    ]);
    const restored = ['$JS.SNAPSHOT.RESTORE.LOG_0.x', '$KV.shards.claim.0'];
    expect(await publishRefused('restore', restored)).toEqual([]);
    const unheard = ['log.>', '$KV.>', 'agents.*.up.job.take', '_INBOX_router.>', '>'];
    for (const role of ['backup', 'restore'] as const) expect(await subscribeRefused(role, unheard)).toEqual(unheard);
  });

  test.each(['management', 'sessions', 'controllers', 'gateway', 'callout', 'system', 'backup'] as const)(
    '%s neither says nor hears what routers say to each other, and writes no log and no claim',
    async (role) => {
      const said = ['shard.0.perform', 'shard.0.find', 'notice.r1', 'router.r1', 'log.0.e', '$KV.shards.claim.0'];
      const administered = ['LOG_0', 'KV_shards'].flatMap((stream) =>
        ['CREATE', 'UPDATE', 'DELETE', 'PURGE', 'MSG.DELETE'].map((verb) => `$JS.API.STREAM.${verb}.${stream}`),
      );
      const forbidden = [...said, ...administered];
      expect(await publishRefused(role, forbidden)).toEqual(forbidden);
      const unheard = [
        'shard.>',
        'shard.*.*',
        'notice.>',
        'notice.*',
        'router.>',
        'router.*',
        'log.>',
        'log.*.*',
        '$KV.shards.>',
      ];
      expect(await subscribeRefused(role, unheard)).toEqual(unheard);
    },
  );

  test('each role hears what is meant for it', async () => {
    const fromAgents = ['agents.*.up.job.take', 'agents.*.up.job.withdraw'];
    expect(await subscribeRefused('gateway', [...fromAgents, '_INBOX_gateway.>'])).toEqual([]);
    expect(
      await subscribeRefused('router', ['shard.>', 'notice.>', 'rates.*', 'requests.*', '_INBOX_router.>']),
    ).toEqual([]);
    expect(await subscribeRefused('sessions', ['agents.*.up.host.join', 'agents.*.up.host.report'])).toEqual([]);
    expect(await subscribeRefused('controllers', ['demand.*', 'agents.*.up.demand', 'control.changed'])).toEqual([]);
    expect(await subscribeRefused('router', ['control.pulse'])).toEqual([]);
    expect(await publishRefused('controllers', ['control.pulse'])).toEqual([]);
    expect(
      await publishRefused('router', ['demand.r1', 'rates.r1', 'agents.h1.down.stop', 'agents.h1.down.gone']),
    ).toEqual([]);
    expect(await publishRefused('management', ['control.changed', 'agents.h1.down.wake'])).toEqual([]);
  });

  test('whoever hears agents writes to agents and nowhere else, whatever it is asked to answer to', async () => {
    const forbidden = [
      'log.0.e',
      'cur.0.e.j.k',
      '$KV.endpoints.e1',
      '$JS.API.INFO',
      '$JS.API.STREAM.PURGE.LOG_0',
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
      const unheard = ['_INBOX_agent.*.>', '_INBOX_router.>', 'log.>', '$KV.>', 'history.*', 'agents.*.down.>', '>'];
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

  test('the operator reads how streams are, logs and claims, and writes nothing', async () => {
    const router = await jetstreamManager(await nats.connectAs('router'), PATIENT);
    await router.streams.add({ name: 'LOG_3', subjects: ['log.3.>'], allow_direct: true });
    await jetstream(await nats.connectAs('router')).publish('log.3.e', 'batch');
    const manager = await jetstreamManager(await nats.connectAs('operator'), PATIENT);
    expect((await manager.streams.info('LOG_3')).state.messages).toBe(1);
    expect((await manager.streams.getMessage('LOG_3', { seq: 1 }))?.string()).toBe('batch');
    expect((await manager.direct.getMessage('LOG_3', { seq: 1 }))?.string()).toBe('batch');
    const forbidden = [
      'log.3.e',
      '$KV.shards.claim.0',
      '$KV.endpoints.e',
      'agents.h1.down.stop',
      '$JS.API.STREAM.CREATE.LOG_3',
      '$JS.API.STREAM.UPDATE.LOG_3',
      '$JS.API.STREAM.DELETE.LOG_3',
      '$JS.API.STREAM.PURGE.LOG_3',
      '$JS.API.STREAM.MSG.DELETE.LOG_3',
      '$JS.API.STREAM.MSG.GET.BLOB_0',
      '$JS.API.DIRECT.GET.KV_api_keys',
      '$JS.API.CONSUMER.CREATE.LOG_3.spy',
    ];
    expect(await publishRefused('operator', forbidden)).toEqual(forbidden);
    const unheard = ['log.>', 'agents.>', '_INBOX.>', '_INBOX_router.>', '$KV.>', '>'];
    expect(await subscribeRefused('operator', unheard)).toEqual(unheard);
  });

  test('the system user sees connections and cannot change the server', async () => {
    const client = await nats.connectAs('system');
    const answer = await client.request('$SYS.REQ.SERVER.PING.CONNZ', JSON.stringify({}), PATIENT);
    expect(answer.json<{ data: { num_connections: number } }>().data.num_connections).toBeGreaterThan(0);
    const forbidden = ['$SYS.REQ.SERVER.ABC.RELOAD', '$SYS.REQ.SERVER.ABC.LDM', '$SYS.REQ.ACCOUNT.APP.CONNZ'];
    expect(await publishRefused('system', forbidden)).toEqual(forbidden);
  });
});
