import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { inboxPrefix } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { admitAgent, readAuthRequest, refuseAgent } from '@berth/messaging';
import { eventually, ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { useNatsServer, usePostgres } from '@berth/testing/servers';
import { nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { beforeAll, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { InstallationFolder } from '../installation-folder.js';
import { runInit } from '../run-init.js';
import { STATEMENTS_PATH } from './database-statements.js';
import type { RotationName, RotationStep } from './rotation-steps.js';
import { runRotation } from './run-rotation.js';
import { brokerKeysOf } from './secrets-in-use.js';

const tempFolder = useTempFolders();
const nats = useNatsServer({ access: 'roles' });
const postgres = usePostgres();
let folder: InstallationFolder;

beforeAll(async () => {
  folder = new InstallationFolder(await tempFolder());
  const given = { databaseHost: '127.0.0.1', databasePort: postgres.server.port };
  const tools = { folder, clock: new ManualClock(), random: systemRandom };
  await runInit({ given, isRenewing: false, isFirstKeyNew: false }, tools);
});

const rotate = (name: RotationName, step: RotationStep) => runRotation(folder, { name, step }, systemRandom);

const textOf = (path: string): Promise<string> => readFile(join(folder.path, path), 'utf8');

const variable = async (file: string, name: string): Promise<string> =>
  parseEnv(await textOf(`env/${file}.env`))[name] ?? '';

/** The broker is started again with what its file says now. */
async function restartBroker(): Promise<void> {
  const kept = await folder.read();
  if (kept === null) throw new Error('there is no installation');
  await nats.restart('kill', { auth: { kind: 'roles', keys: brokerKeysOf(kept) } });
}

const connectBy = (seed: string, isStanding = false): Promise<NatsConnection> =>
  nats.connect({
    authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)),
    ...(isStanding ? { maxReconnectAttempts: -1, reconnectTimeWait: 50 } : { reconnect: false }),
  });

const OWN_SEEDS: readonly (readonly [file: string, name: string])[] = [
  ...['NATS', 'AGENTS', 'SYSTEM', 'AUTH'].map((each) => ['management-api', `BERTH_${each}_SEED`] as const),
  ...['NATS', 'AGENTS'].map((each) => ['job-router', `BERTH_${each}_SEED`] as const),
  ...['controllers', 'operator', 'backup', 'restore'].map((each) => [each, 'BERTH_NATS_SEED'] as const),
];

const seeds = (): Promise<readonly string[]> => Promise.all(OWN_SEEDS.map(([file, name]) => variable(file, name)));

/** As a management API that was started with the file of now. */
async function admitAgents(): Promise<() => Promise<void>> {
  const callout = await connectBy(await variable('management-api', 'BERTH_AUTH_SEED'), true);
  const [first = '', ...others] = (await variable('management-api', 'BERTH_AUTH_ISSUER_SEED')).split(',');
  const options = { issuerSeeds: [first, ...others] as const, account: 'APP' };
  callout.subscribe('$SYS.REQ.USER.AUTH', {
    callback: (_, message) => {
      const request = readAuthRequest(message.string());
      const admission = { hostId: request.user as HostId, nowMs: systemClock.nowMs() };
      const isAgent = request.user !== undefined;
      const answer = isAgent ? admitAgent(request, admission, options) : refuseAgent(request, 'no', options);
      void answer.then((text) => message.respond(text));
    },
  });
  await callout.flush();
  return () => callout.close();
}

const connectAgent = async (): Promise<void> => {
  const agent = await nats.connect({
    user: 'h1',
    pass: 's',
    inboxPrefix: inboxPrefix('h1' as HostId),
    reconnect: false,
  });
  await agent.flush();
  await agent.close();
};

test('with new keys of roles old ones work until they are retired, and connections come back by themselves', async () => {
  await restartBroker();
  const old = await seeds();
  const standing = await connectBy(await variable('job-router', 'BERTH_NATS_SEED'), true);
  await rotate('role-keys', 'add');
  await restartBroker();
  await eventually(() => standing.flush());
  await rotate('role-keys', 'switch');
  const made = await seeds();
  expect(new Set([...old, ...made]).size).toBe(2 * OWN_SEEDS.length);
  for (const seed of [...old.slice(0, 2), ...made.slice(0, 2)]) await (await connectBy(seed)).close();
  await standing.close();
  const next = await connectBy(await variable('job-router', 'BERTH_NATS_SEED'), true);
  await rotate('role-keys', 'retire');
  await restartBroker();
  await eventually(() => next.flush());
  for (const seed of made) await (await connectBy(seed)).close();
  const end = await admitAgents();
  await expect(connectBy(old[0] ?? '')).rejects.toThrow('Authorization Violation');
  await end();
});

test('with a new issuer agents are let in before, between and behind each step', async () => {
  await restartBroker();
  const carry = { add: admitAgents, switch: restartBroker, retire: admitAgents };
  let end = await admitAgents();
  await connectAgent();
  for (const step of ['add', 'switch', 'retire'] as const) {
    await rotate('issuer', step);
    await connectAgent();
    if (step === 'switch') await restartBroker();
    else {
      const before = end;
      end = await carry[step]();
      await before();
    }
    await eventually(connectAgent);
  }
  await end();
});

/** As our processes log in, or by another password. */
async function logIn(url: string): Promise<Client> {
  const client = new Client({
    connectionString: url.replace('?sslmode=verify-full', ''),
    application_name: 'a process',
  });
  await client.connect();
  return client;
}

/** Two processes at a time: each makes a table of its own and reads the other's. */
async function workBeside(urls: readonly [string, string], table: string): Promise<void> {
  const [one, other] = [await logIn(urls[0]), await logIn(urls[1])];
  await one.query(`CREATE TABLE ${table} (made text); INSERT INTO ${table} VALUES ('by one')`);
  await other.query(`ALTER TABLE ${table} ADD read text; UPDATE ${table} SET read = 'by another'`);
  await other.query(`DROP TABLE ${table}`);
  await one.end();
  await other.end();
}

const databaseUrl = (): Promise<string> => variable('controllers', 'BERTH_DATABASE_URL');

async function say(superuser: Client): Promise<void> {
  await superuser.query(await textOf(STATEMENTS_PATH)).catch(async (error: unknown) => {
    await superuser.query('ROLLBACK');
    throw error;
  });
}

test('with a new password of the database both work until the old one is retired, which waits for who uses it', async () => {
  const superuser = await logIn(postgres.server.url);
  await superuser.query('CREATE DATABASE berth');
  await superuser.query(`ALTER ROLE berth PASSWORD '${await variable('postgres', 'POSTGRES_PASSWORD')}'`);
  for (const round of ['first', 'second']) {
    const old = await databaseUrl();
    const standing = await logIn(old);
    await rotate('database-password', 'add');
    await say(superuser);
    await say(superuser);
    await workBeside([old, old], `${round}_add`);
    await rotate('database-password', 'switch');
    const made = await databaseUrl();
    await workBeside([old, made], `${round}_switch`);
    await workBeside([made, old], `${round}_back`);
    await rotate('database-password', 'retire');
    await expect(say(superuser)).rejects.toThrow(
      'a process still uses the old password: restart it, then say this again',
    );
    await (await logIn(old)).end();
    await standing.end();
    await eventually(() => say(superuser));
    await expect(logIn(old)).rejects.toThrow(/password authentication failed/);
    await workBeside([made, made], `${round}_retire`);
  }
  expect(await variable('postgres', 'POSTGRES_USER')).toBe('berth');
  await superuser.end();
});
