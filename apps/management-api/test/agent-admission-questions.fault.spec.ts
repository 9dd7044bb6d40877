import { hostSubject, stopSubject } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { AgentTransport } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { AgentAdmission } from '../src/agent-connections/agent-admission.js';
import { newJoinToken } from '../src/host-sessions/join-token.js';
import { hashHostSecret } from '../src/host-sessions/secret-hash.js';
import type { HostSessionsStore } from '../src/host-sessions/host-sessions.store.js';
import { HostEntity } from '../src/persistence/entities/index.js';
import { ScriptedHost, useControlPlane } from './control-plane-bench.js';
import { INVENTORY } from './fleet-bench.js';

const bench = useControlPlane();
const { fleet } = bench;
const open = useNatsServer();

const REFUSED = 'Authorization Violation';
const SECRET = 'the secret that the agent made';
/** Of an account that no broker here trusts. */
const OTHER_ISSUER = 'SAAPS2VYUAHPVRWIEZOCWFROJFL7IP36DKFXSLS2G45NKIABLKUIW6LYM4';

const isJoined = async (hostId = 'h1'): Promise<boolean> =>
  (await fleet.source.getRepository(HostEntity).findOneByOrFail({ id: hostId })).secretHash !== null;

/** What a host says under its own or another's subject. */
const ask = (connection: NatsConnection, subject: string, body: unknown): Promise<unknown> =>
  new AgentTransport(connection).request(subject, body, { timeoutMs: 5_000 });

const joinBody = (token: string, secret = SECRET) => ({
  token,
  secretHash: hashHostSecret(secret),
  inventory: INVENTORY,
});

describe('a join token', () => {
  test('lets its host in once; from then on the agent comes with its secret', async () => {
    const token = await bench.newToken('h1');
    const host = new ScriptedHost(bench, 'h1' as HostId);
    expect(await host.join(token)).toEqual({ hostId: 'h1', dataCenterId: 'local' });
    expect(await isJoined()).toBe(true);
    await expect(bench.connectAgent('join', token, 'h1')).rejects.toThrow(REFUSED);
    await host.connect();
    await host.report();
    expect(await fleet.source.getRepository(HostEntity).findOneBy({ id: 'h1' })).toMatchObject({ reportSequence: 1 });
    await host.close();
  });

  test('is not used up by connecting alone, and two agents that hold it cannot both join', async () => {
    const token = await bench.newToken('h1');
    const first = await bench.connectAgent('join', token, 'h1');
    const second = await bench.connectAgent('join', token, 'h1');
    const answers = await Promise.allSettled([
      ask(first, hostSubject('h1' as HostId, 'join'), joinBody(token, 'one')),
      ask(second, hostSubject('h1' as HostId, 'join'), joinBody(token, 'two')),
    ]);
    const refused = answers.filter((answer) => answer.status === 'rejected');
    expect(refused).toMatchObject([{ reason: { code: 'join-token-used' } }]);
  });

  test('whose answer was lost is mended by asking again with the same secret', async () => {
    const token = await bench.newToken('h1');
    const connection = await bench.connectAgent('join', token, 'h1');
    const subject = hostSubject('h1' as HostId, 'join');
    const once = await ask(connection, subject, joinBody(token));
    expect(await ask(connection, subject, joinBody(token))).toEqual(once);
  });

  test('is refused when it is out of date, made up, of an unknown host, or no token', async () => {
    const token = await bench.newToken('h1');
    await fleet.clock.advance(60_000);
    const madeUp = [
      newJoinToken('h1' as HostId, systemRandom),
      newJoinToken('h2' as HostId, systemRandom),
      'token',
      '',
    ];
    for (const each of [token, ...madeUp]) {
      await expect(bench.connectAgent('join', each, 'h1')).rejects.toThrow(REFUSED);
    }
    expect(await isJoined()).toBe(false);
  });

  test('of one host cannot be used to join another', async () => {
    const token = await bench.newToken('h1');
    await bench.newToken('h2');
    const connection = await bench.connectAgent('join', token, 'h1');
    await expect(ask(connection, hostSubject('h2' as HostId, 'join'), joinBody(token))).rejects.toMatchObject({
      failure: 'forbidden',
    });
    expect(await isJoined('h2')).toBe(false);
  });

  test('comes with a message that is checked', async () => {
    const token = await bench.newToken('h1');
    const connection = await bench.connectAgent('join', token, 'h1');
    const subject = hostSubject('h1' as HostId, 'join');
    const bodies: unknown[] = [
      null,
      [],
      { ...joinBody(token), secretHash: SECRET },
      { ...joinBody(token), inventory: [] },
      { ...joinBody(token), inventory: { ...INVENTORY, vcpus: -1 } },
      { ...joinBody(token), inventory: { ...INVENTORY, runtime: 'other' } },
      { ...joinBody(token), inventory: { ...INVENTORY, gpus: [{ index: 0 }] } },
    ];
    for (const body of bodies) {
      await expect(ask(connection, subject, body)).rejects.toMatchObject({ code: 'invalid-fields' });
    }
    expect(await isJoined()).toBe(false);
  });
});

describe('a join token that is good no longer', () => {
  const whyNot = async (token: string): Promise<unknown> => {
    const connection = await bench.connectRefused(token, 'h1');
    return ask(connection, hostSubject('h1' as HostId, 'join'), joinBody(token, 'another'));
  };

  test('says to its holder that it was used, or is out of date, and how to get a new one', async () => {
    const used = await bench.newToken('h1');
    const host = new ScriptedHost(bench, 'h1' as HostId);
    await host.join(used);
    const newOne = expect.stringContaining('POST /v2/hosts/join-tokens');
    await expect(whyNot(used)).rejects.toMatchObject({ code: 'join-token-used', message: newOne });
    await host.close();
  });

  test('says so too when it is out of date', async () => {
    const late = await bench.newToken('h1');
    await fleet.clock.advance(60_000);
    await expect(whyNot(late)).rejects.toMatchObject({ code: 'join-token-expired' });
    expect(await isJoined()).toBe(false);
  });

  test('lets its holder do nothing else: neither report nor hear what its host is told', async () => {
    const token = await bench.newToken('h1');
    await fleet.clock.advance(60_000);
    const connection = await bench.connectRefused(token, 'h1');
    const heard: string[] = [];
    for (const subject of ['agents.h1.down.>', '_INBOX_agent.h1.>']) {
      connection.subscribe(subject, {
        callback: (error) => {
          heard.push(error === null ? subject : 'refused');
        },
      });
    }
    await connection.flush();
    await eventually(() => expect(heard).toEqual(['refused', 'refused']));
    const report = { secret: 's', instanceId: 'i', sequence: 1, inventory: INVENTORY, workers: [] };
    await expect(ask(connection, hostSubject('h1' as HostId, 'report'), report)).rejects.toMatchObject({
      failure: 'forbidden',
    });
  });

  test('is told apart from none by its holder only: made up ones, and those that are good, ask nothing', async () => {
    const good = await bench.newToken('h1');
    for (const token of [good, newJoinToken('h1' as HostId, systemRandom), 'token', '']) {
      await expect(bench.connectRefused(token, 'h1')).rejects.toThrow(REFUSED);
    }
  });
});

describe('a secret', () => {
  test('that is wrong, of another host, or of a host that never joined lets nobody in', async () => {
    await bench.addAgent('h1');
    await bench.newToken('h2');
    for (const [user, pass] of [
      ['h1', 'guessed'],
      ['h1', ''],
      ['h2', 'guessed'],
      ['h3', 'guessed'],
      ['router', 'guessed'],
    ] as const) {
      await expect(bench.connectAgent(user, pass)).rejects.toThrow(REFUSED);
    }
  });

  test('is asked for again with every report, also where the broker let the agent in', async () => {
    await bench.addAgent('h1');
    const token = await bench.newToken('h2');
    const connection = await bench.connectAgent('join', token, 'h2');
    const report = { secret: 'guessed', instanceId: 'i', sequence: 1, inventory: INVENTORY, workers: [] };
    await expect(ask(connection, hostSubject('h2' as HostId, 'report'), report)).rejects.toMatchObject({
      code: 'host-not-joined',
    });
  });

  test('is good for nothing once the host was removed', async () => {
    const host = await bench.addAgent('h1');
    await fleet.source.getRepository(HostEntity).delete({ id: 'h1' });
    await expect(host.connect()).rejects.toThrow(REFUSED);
  });
});

test('an agent hears and speaks under its own subjects only', async () => {
  await bench.addAgent('h1');
  const token = await bench.newToken('h2');
  const connection = await bench.connectAgent('join', token, 'h2');
  const errors: string[] = [];
  void (async () => {
    for await (const status of connection.status()) if (status.type === 'error') errors.push(status.error.message);
  })();
  const foreign = [
    'agents.h1.up.host.report',
    'agents.h1.down.wake',
    'control.changed',
    '$KV.hosts.h1',
    '$JS.API.INFO',
  ];
  for (const subject of foreign) connection.publish(subject);
  const heard: string[] = [];
  for (const subject of [stopSubject('h1' as HostId), 'agents.>', '$KV.>', '_INBOX_agent.h1.>']) {
    connection.subscribe(subject, {
      callback: (error) => {
        heard.push(error === null ? subject : 'refused');
      },
    });
  }
  await connection.flush();
  await eventually(() => {
    expect(errors.filter((text) => text.includes('Publish'))).toHaveLength(foreign.length);
    expect(heard).toEqual(['refused', 'refused', 'refused', 'refused']);
  });
});

test('while the database is away nobody is let in, and afterwards without a new start', async () => {
  const host = await bench.addAgent('h1');
  await fleet.postgres.server.stop();
  await expect(bench.connectAgent('h1', 'whatever')).rejects.toThrow();
  await fleet.postgres.restart();
  await eventually(() => host.connect(), { deadlineMs: 90_000 });
});

describe('somebody who knocks without end', () => {
  /** What a server asks when somebody knocks with these. */
  const questionOf = async (user: string, pass: string): Promise<string> => {
    const overheard: string[] = [];
    const connection = await bench.nats.connectAs('callout');
    connection.subscribe('$SYS.REQ.USER.AUTH', { callback: (_, message) => void overheard.push(message.string()) });
    await connection.flush();
    await expect(bench.connectAgent(user, pass, 'h1')).rejects.toThrow();
    await eventually(() => {
      expect(overheard.length).toBeGreaterThan(0);
    });
    await connection.close();
    return overheard[0] ?? '';
  };

  /** An admission by itself: what it reads, whom it refuses, and how often it answers. */
  const admitBy = async (read: () => Promise<null>, issuer = bench.nats.keys.issuer) => {
    const [connection, asker] = [await open.connect(), await open.connect()];
    const reads: string[] = [];
    const refused: string[] = [];
    let answers = 0;
    const store = {
      find: (id: string) => (reads.push(id), read()),
      tokenState: (id: string) => (reads.push(id), read()),
    } as unknown as HostSessionsStore;
    const answer = { issuerSeeds: [issuer] as const, account: 'APP' };
    const onRefused = (fault: string): void => void refused.push(fault);
    const { clock } = fleet;
    new AgentAdmission({ connection, store, nodes: null, answer, clock, logger: silentLogger, onRefused }).start();
    await connection.flush();
    asker.subscribe('$SYS._INBOX.>', { callback: () => void (answers += 1) });
    const knock = (question: string): void => {
      asker.publish('$SYS.REQ.USER.AUTH', question, { reply: '$SYS._INBOX.server.1' });
    };
    return { knock, reads, refused, answers: () => answers, close: () => connection.close() };
  };

  test.each([
    ['a.b', 's'],
    ['>', 's'],
    ['h'.repeat(2_000), 's'],
    ['join', `bjt_${'h'.repeat(2_000)}_s`],
    ['join', `bjt_h_${'s'.repeat(2_000)}`],
  ])('under the name %.10s, which no host can have, costs the database nothing', async (user, pass) => {
    const admission = await admitBy(() => Promise.resolve(null));
    admission.knock(await questionOf(user, pass));
    await eventually(() => {
      expect(admission.answers()).toBe(1);
    });
    expect(admission.reads).toEqual([]);
    expect(admission.refused).toEqual(['no-host']);
    await admission.close();
  });

  test('that a broker asks which would not hear the answer, costs the database nothing', async () => {
    const admission = await admitBy(() => Promise.resolve(null), OTHER_ISSUER);
    admission.knock(await questionOf('h1', 'guessed'));
    await eventually(() => {
      expect(admission.answers()).toBe(1);
    });
    expect(admission.reads).toEqual([]);
    expect(admission.refused).toEqual(['other-issuer']);
    await admission.close();
  });

  test('has a bounded number of decisions under way, and of those that wait', async () => {
    const held = Promise.withResolvers<null>();
    const admission = await admitBy(() => held.promise);
    const question = await questionOf('h1', 'guessed');
    for (let n = 0; n < 2_000; n += 1) admission.knock(question);
    await eventually(() => {
      expect(admission.refused).toEqual(Array<string>(2_000 - 32 - 1_024).fill('busy'));
      expect(admission.reads).toHaveLength(32);
    }).finally(() => {
      held.resolve(null);
    });
    await eventually(() => {
      expect(admission.answers()).toBe(32 + 1_024);
    });
    await admission.close();
  });
});

test('a question about an agent that no server asks is answered nowhere', async () => {
  const overheard: string[] = [];
  (await bench.nats.connectAs('callout')).subscribe('$SYS.REQ.USER.AUTH', {
    callback: (_, message) => void overheard.push(message.string()),
  });
  await bench.addAgent('h1');
  await eventually(() => {
    expect(overheard.length).toBeGreaterThan(0);
  });
  const connection = await open.connect();
  const answer = { issuerSeeds: [bench.nats.keys.issuer] as const, account: 'APP' };
  const { sessions: store } = bench;
  new AgentAdmission({ connection, store, nodes: null, answer, clock: fleet.clock, logger: silentLogger }).start();
  await connection.flush();
  const heard: string[] = [];
  const asker = await open.connect();
  for (const subject of ['job.>', '$SYS._INBOX.>']) {
    asker.subscribe(subject, { callback: (_, message) => void heard.push(message.subject) });
  }
  asker.publish('$SYS.REQ.USER.AUTH', overheard[0] ?? '', { reply: 'job.0.e.j' });
  asker.publish('$SYS.REQ.USER.AUTH', overheard[0] ?? '', { reply: '$SYS._INBOX.server.1' });
  await eventually(() => {
    expect(heard).toEqual(['$SYS._INBOX.server.1']);
  });
});
