import { hostSubject, inboxPrefix, jobSubject } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { SHARED_USER, useNatsServer } from '@berth/testing/servers';
import { Writable } from 'node:stream';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { BrokerGuard } from '../src/agent-auth/broker-guard.js';
import { AgentServer } from '../src/agent-transport/agent-server.js';
import { AgentTransport } from '../src/agent-transport/agent-transport.js';
import type { NatsCredentials } from '../src/connection.js';

const open = useNatsServer();
const shared = useNatsServer({ access: 'password' });
const guests = useNatsServer({ access: 'guests' });
const roles = useNatsServer({ access: 'roles' });
const lines: string[] = [];
const HOST = 'h1' as HostId;
const SAID_WITHIN = { deadlineMs: 90_000 };

const logger = createLogger({
  name: 'test',
  level: 'info',
  format: 'json',
  output: new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString());
      done();
    },
  }),
});

beforeEach(() => {
  lines.length = 0;
});

const guard = (url: string, credentials: NatsCredentials, isTrusted = false): BrokerGuard =>
  new BrokerGuard({ url, credentials, isTrusted, clock: systemClock, logger });

const NONE: NatsCredentials = { kind: 'none' };
const PASSWORD: NatsCredentials = { kind: 'password', ...SHARED_USER };

describe('agents are not heard on a broker', () => {
  test('that lets anyone in', async () => {
    const { isOpen } = guard(open.server.url, NONE);
    expect(await isOpen).toBe(false);
    expect(lines.join()).toMatch(/agents are not heard: the broker lets anyone in.*BERTH_TRUSTED_BROKER=on/);
  });

  test('that asks for credentials and lets in who has none all the same', async () => {
    const each = guard(guests.server.url, PASSWORD);
    expect(await each.isOpen).toBe(false);
    expect(each.missing).toEqual([expect.stringContaining('the broker lets anyone in')]);
  });

  test('whose one password lets everybody speak for every host', async () => {
    const each = guard(shared.server.url, PASSWORD);
    expect(await each.isOpen).toBe(false);
    expect(each.missing).toEqual([expect.stringContaining('does not limit')]);
  });
});

test('somebody who listens to everything, and answers nothing, cannot keep it from being found out', async () => {
  const listener = await shared.connect(SHARED_USER);
  listener.subscribe('>', { callback: () => undefined });
  await listener.flush();
  const each = guard(shared.server.url, PASSWORD);
  expect(await each.isOpen).toBe(false);
  expect(each.missing).toEqual([expect.stringContaining('does not limit')]);
  await listener.close();
});

test('a broker that cannot be asked has no agent heard, says so at once, and in the log after some tries', async () => {
  const each = guard('nats://127.0.0.1:1', NONE);
  expect(each.missing).toEqual([expect.stringContaining('not known yet')]);
  await eventually(() => {
    expect(lines.join()).toContain('agents are not heard: it is not known yet');
  }, SAID_WITHIN);
  expect(each.missing).toEqual([expect.stringContaining('not known yet')]);
  each.stop();
  expect(await each.isOpen).toBe(false);
});

describe('agents are heard on a broker', () => {
  test.each(['gateway', 'sessions', 'router'] as const)(
    'that limits its users, found out as %s while nobody admits agents',
    async (role) => {
      const each = guard(roles.server.url, { kind: 'nkey', seed: roles.keys.roles[role] });
      expect(await each.isOpen).toBe(true);
      expect(each.missing).toEqual([]);
      expect(lines).toEqual([]);
    },
  );

  test('of which the operator says so, with a line that tells what it means', async () => {
    expect(await guard(open.server.url, NONE, true).isOpen).toBe(true);
    expect(lines.join()).toContain('BERTH_TRUSTED_BROKER=on');
  });
});

test('an unguarded broker’s agents are told that nobody answers, while routers are answered', async () => {
  const connection = await open.connect();
  const options = { connection, queue: 'q', drainMs: 1_000, clock: systemClock, logger };
  const { isOpen } = guard(open.server.url, NONE);
  const hosts = new AgentServer({ ...options, askers: 'hosts', isOpen });
  const routers = new AgentServer({ ...options, askers: 'routers', isOpen: Promise.resolve(true) });
  for (const server of [hosts, routers]) {
    server.addHandler(jobSubject('*', 'take'), () => Promise.resolve('a job'));
    server.addHandler(hostSubject('*', 'join'), () => Promise.resolve('joined'));
    server.addHandler('history.list', () => Promise.resolve('jobs'));
    await new Promise<unknown>((resolve) => {
      server.listen(resolve);
    });
  }
  await isOpen;
  await connection.flush();
  const agent = new AgentTransport(await open.connect({ inboxPrefix: inboxPrefix(HOST) }));
  for (const subject of [jobSubject(HOST, 'take'), hostSubject(HOST, 'join')]) {
    await expect(agent.request(subject, {}, { timeoutMs: 5_000 })).rejects.toMatchObject({ failure: 'no-responder' });
  }
  const router = new AgentTransport(await open.connect({ inboxPrefix: '_INBOX_router' }));
  expect(await router.request('history.list', {}, { timeoutMs: 5_000 })).toBe('jobs');
  // A host is no router: its inbox is not where such answers go.
  await expect(agent.request('history.list', {}, { timeoutMs: 200 })).rejects.toMatchObject({ failure: 'timeout' });
  await hosts.close();
  await routers.close();
});
