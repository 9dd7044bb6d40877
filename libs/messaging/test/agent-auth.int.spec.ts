import { hostSubject, inboxPrefix, jobSubject } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsServer, type NatsFixture } from '@berth/testing/servers';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { jetstreamManager } from '@nats-io/jetstream';
import { createUser } from '@nats-io/nkeys';
import { nkeyAuthenticator, type NatsConnection, type NodeConnectionOptions } from '@nats-io/transport-node';
import {
  admitAgent,
  AGENT_ADMISSION_MS,
  isTrustedIssuer,
  readAuthRequest,
  refuseAgent,
  type AuthAnswerOptions,
  type AuthRequest,
} from '../src/agent-auth/index.js';

const nats = useNatsServer({ access: 'roles' });
/** It trusts an issuer of its own. */
const other = useNatsServer({ access: 'roles' });

const PATIENT = { timeout: 60_000 };
const SECRET = 'the secret of the host';

/** Instant that the callout believes in; moved to let an admission expire. */
let nowMs = systemClock.nowMs();
const asked: AuthRequest[] = [];

/** @param issuerSeeds all that it can sign with */
async function answerAt(server: NatsFixture, issuerSeeds: AuthAnswerOptions['issuerSeeds']): Promise<NatsConnection> {
  const options = { issuerSeeds, account: 'APP' };
  const callout = await server.connectAs('callout');
  callout.subscribe('$SYS.REQ.USER.AUTH', {
    callback: (error, message) => {
      if (error) throw error;
      const request = readAuthRequest(message.string());
      asked.push(request);
      const isKnown = request.user !== undefined && request.password === SECRET;
      const answer = isKnown
        ? admitAgent(request, { hostId: request.user as HostId, nowMs }, options)
        : refuseAgent(request, 'unknown host', options);
      void answer.then((text) => message.respond(text));
    },
  });
  await callout.flush();
  return callout;
}

beforeAll(() => answerAt(nats, [nats.keys.issuer]));

const connectAgent = (hostId: string, options: NodeConnectionOptions = {}): Promise<NatsConnection> =>
  nats.connect({ user: hostId, pass: SECRET, inboxPrefix: inboxPrefix(hostId as HostId), ...options });

const errorsOf = (client: NatsConnection): string[] => {
  const errors: string[] = [];
  void (async () => {
    for await (const status of client.status()) if (status.type === 'error') errors.push(status.error.message);
  })();
  return errors;
};

describe('an agent', () => {
  test('asks a router, gets its answer, and hears what is sent down to it', async () => {
    const [router, gateway] = [await nats.connectAs('router'), await nats.connectAs('gateway')];
    gateway.subscribe('agents.*.up.job.take', {
      callback: (_, message) => {
        message.respond('a job');
      },
    });
    await gateway.flush();
    const agent = await connectAgent('h1');
    const heard: string[] = [];
    agent.subscribe('agents.h1.down.>', {
      callback: (_, message) => {
        heard.push(message.subject);
      },
    });
    await agent.flush();
    expect((await agent.request('agents.h1.up.job.take', '', PATIENT)).string()).toBe('a job');
    router.publish('agents.h1.down.stop');
    await eventually(() => {
      expect(heard).toEqual(['agents.h1.down.stop']);
    });
  });

  test.each([
    ['gateway', jobSubject('h1' as HostId, 'renew')],
    ['sessions', hostSubject('h1' as HostId, 'report')],
  ] as const)(
    'cannot make %s write where it may not itself, even one that answers to anything',
    async (role, subject) => {
      const careless = await nats.connectAs(role);
      const refused = errorsOf(careless);
      careless.subscribe(subject.replace('h1', '*'), {
        callback: (_, message) => {
          message.respond('written');
        },
      });
      await careless.flush();
      const agent = await connectAgent('h1');
      const places = ['job.0.e.j', '$KV.endpoints.e', '$JS.API.STREAM.PURGE.JOBS_0', 'agents.h2.down.stop', '_INBOX.x'];
      for (const reply of places) agent.publish(subject, '', { reply });
      expect((await agent.request(subject, '', PATIENT)).string()).toBe('written');
      await eventually(() => {
        expect(refused.map((text) => /Publish to "([^"]+)"/.exec(text)?.[1])).toEqual(places);
      });
    },
  );

  test('is shown to the callout with its name, its secret and a key of its own', async () => {
    asked.length = 0;
    await connectAgent('h7');
    await connectAgent('h7');
    expect(asked.map(({ user, password, address }) => ({ user, password, address }))).toEqual(
      Array.from({ length: 2 }, () => ({ user: 'h7', password: SECRET, address: '127.0.0.1' })),
    );
    expect(asked[0]?.userKey).not.toBe(asked[1]?.userKey);
  });

  test('cannot speak for another host, nor touch a stream, a bucket or the system', async () => {
    const agent = await connectAgent('h1');
    const errors = errorsOf(agent);
    const forbidden = [
      'agents.h2.up.job.take',
      'agents.h1.down.stop',
      '$JS.API.INFO',
      '$JS.API.STREAM.MSG.GET.JOBS_0',
      '$JS.API.DIRECT.GET.JOBS_0.job.0.e.j',
      '$JS.ACK.QUEUE_0.c.1.1.1.1.0',
      '$KV.endpoints.e1',
      'job.0.e.j',
      'demand.r1',
      'shard.0.perform',
      'notice.r1',
      'router.r1',
      'log.0.e',
      '$KV.shards.claim.0',
      'history.read',
      '_INBOX_router.x',
      '$SYS.REQ.USER.AUTH',
    ];
    for (const subject of forbidden) agent.publish(subject);
    await agent.flush();
    await eventually(() => {
      expect(errors.map((text) => /Publish to "([^"]+)"/.exec(text)?.[1])).toEqual(forbidden);
    });
    await expect(jetstreamManager(agent)).rejects.toThrow();
  });

  test('cannot hear another host, an inbox of somebody else, or everything', async () => {
    const agent = await connectAgent('h1');
    const forbidden = [
      'agents.h2.down.>',
      'agents.*.down.>',
      '_INBOX.>',
      '_INBOX_agent.h2.>',
      '_INBOX_agent.*.>',
      '_INBOX_agent.>',
      'jobn.>',
      'shard.>',
      'notice.>',
      'router.>',
      'log.>',
      '$KV.shards.>',
      'history.read',
      '$SYS.>',
      '>',
    ];
    const refused: string[] = [];
    for (const subject of forbidden) {
      agent.subscribe(subject, {
        callback: (error) => {
          if (error !== null) refused.push(subject);
        },
      });
    }
    await agent.flush();
    await eventually(() => {
      expect(refused).toEqual(forbidden);
    });
  });

  test('is let in again, by itself, when its admission is over', async () => {
    asked.length = 0;
    nowMs = systemClock.nowMs() - AGENT_ADMISSION_MS + 2_000;
    const agent = await connectAgent('h1', { reconnectTimeWait: 50 });
    nowMs = systemClock.nowMs();
    await eventually(() => expect(asked).toHaveLength(2), { deadlineMs: 90_000 });
    await eventually(() => agent.flush());
    expect(agent.isClosed()).toBe(false);
  });
});

describe('a stranger', () => {
  const strangers: [string, NodeConnectionOptions][] = [
    ['without a name', {}],
    ['with a wrong secret', { user: 'h1', pass: 'guessed' }],
    ['with a token', { token: 'x' }],
    ['with the name of a role', { user: 'router', pass: 'x' }],
    ['with a key of its own making', { authenticator: nkeyAuthenticator(createUser().getSeed()) }],
  ];

  test.each(strangers)('%s is not let in', async (_, options) => {
    await expect(nats.connect({ ...options, reconnect: false })).rejects.toThrow('Authorization Violation');
  });
});

describe('a broker that trusts another issuer', () => {
  const login = { user: 'h1', pass: SECRET, inboxPrefix: inboxPrefix('h1' as HostId), reconnect: false };

  test('is answered by whoever has both, as it asks for it, and so is the first', async () => {
    const both = [nats.keys.issuer, other.keys.issuer] as const;
    const answering = [await answerAt(other, both), await answerAt(nats, both)];
    for (let n = 0; n < 4; n += 1) {
      await (await other.connect(login)).flush();
      await (await nats.connect(login)).flush();
    }
    await Promise.all(answering.map((each) => each.close()));
  });

  test('lets nobody in on the word of one that it does not trust, which knows so', async () => {
    const callout = await answerAt(other, [nats.keys.issuer]);
    asked.length = 0;
    await expect(other.connect(login)).rejects.toThrow('Authorization Violation');
    const options = { issuerSeeds: [nats.keys.issuer], account: 'APP' } as const;
    expect(asked.map((request) => isTrustedIssuer(request, options))).toEqual([false]);
    await callout.close();
  });
});
