import { createNatsKeys } from '@berth/broker-access';
import { hostSubject, inboxPrefix } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { InstalledStack, type Diagnosis } from './stack/installed-stack.js';

const START_MS = 240_000;
const JOB_MS = 60_000;
const JOB_TEST_MS = 240_000;
/** Of which `berth doctor` finds something. */
const AREAS = 10;

const tempFolder = useTempFolders();

const found = (state: string, { findings }: Diagnosis) => findings.filter((finding) => finding.state === state);

interface Break {
  readonly what: string;
  /** What is found while it is so; nothing is changed for long. */
  readonly examine: (stack: InstalledStack) => Promise<Diagnosis>;
  readonly says: readonly (readonly [area: string, says: RegExp, mend: RegExp])[];
}

async function whileSo(begin: Promise<void>, examine: () => Promise<Diagnosis>, end: () => Promise<void>) {
  try {
    await begin;
    return await examine();
  } finally {
    await end();
  }
}

const WRONG_SECRETS: Break = {
  what: 'keys and passwords of another installation',
  examine: async (stack) => {
    const { BERTH_DATABASE_URL = '' } = await stack.environment('operator');
    return stack.doctor({
      BERTH_DATABASE_URL: BERTH_DATABASE_URL.replace(/:[^:@]+@/, ':somebody-elses@'),
      BERTH_NATS_SEED: createNatsKeys().roles.operator,
      BERTH_API_KEY: `${stack.firstKey.slice(0, -4)}0000`,
    });
  },
  says: [
    ['database', /refuses the password/, /BERTH_DATABASE_URL/],
    ['brokers', /does not know the key of the operator/, /BERTH_NATS_SEED/],
    ['hosts', /API key is refused/, /BERTH_API_KEY/],
  ],
};

const FOREIGN_AUTHORITY: Break = {
  what: 'an authority that is not the installation’s',
  examine: (stack) => stack.doctor({ NODE_EXTRA_CA_CERTS: '' }),
  says: [
    ['database', /authority that is not believed/, /NODE_EXTRA_CA_CERTS/],
    ['brokers', /authority that is not believed/, /NODE_EXTRA_CA_CERTS/],
  ],
};

const NEWER_DATABASE: Break = {
  what: 'a database of a newer version',
  examine: (stack) =>
    whileSo(
      stack.query(`UPDATE schema_migrations SET name = 'x-' || name WHERE name LIKE 'RunningCatalogs%'`),
      () => stack.doctor(),
      () => stack.query(`UPDATE schema_migrations SET name = substr(name, 3) WHERE name LIKE 'x-%'`),
    ),
  says: [['migrations', /ahead of this program: x-RunningCatalogs/, /the `berth` of the version that runs/]],
};

const MISSING_MIGRATION: Break = {
  what: 'a migration that has not run',
  examine: (stack) =>
    whileSo(
      stack.query(`CREATE TABLE kept_away AS SELECT * FROM schema_migrations WHERE name LIKE 'RunningCatalogs%';
                   DELETE FROM schema_migrations WHERE name LIKE 'RunningCatalogs%'`),
      () => stack.doctor(),
      () => stack.query(`INSERT INTO schema_migrations SELECT * FROM kept_away; DROP TABLE kept_away`),
    ),
  says: [['migrations', /behind this program: RunningCatalogs\d+ did not run/, /run the migration of this version/]],
};

const BROKER_AWAY: Break = {
  what: 'a broker that is down',
  examine: (stack) =>
    whileSo(
      stack.stopBroker(2),
      () => stack.doctor(),
      () => stack.startBroker(2),
    ),
  says: [
    ['brokers', /127\.0\.0\.3:\d+: nobody listens there/, /start it/],
    ['streams', /a copy that is away or behind \(broker-3\)/, /start the broker/],
  ],
};

const BREAKS = { 1: [WRONG_SECRETS, FOREIGN_AUTHORITY, NEWER_DATABASE, MISSING_MIGRATION], 3: [BROKER_AWAY] } as const;

describe.each([1, 3] as const)('an installation with %d broker(s), as `berth init` wrote it', (brokers) => {
  let stack: InstalledStack;
  let host: { readonly hostId: HostId; readonly token: string };

  beforeAll(async () => {
    stack = await InstalledStack.open(await tempFolder(), brokers);
    await stack.migrate();
    await stack.startProcesses();
  }, START_MS);
  afterAll(() => stack.close(), START_MS);

  const connectAs = async (login: object, prefix?: string): Promise<NatsConnection> =>
    connect({
      servers: `${stack.brokerHosts[0] ?? ''}:${String(stack.ports.client)}`,
      tls: { handshakeFirst: true, ca: await stack.authority() },
      reconnect: false,
      ...(prefix !== undefined && { inboxPrefix: prefix }),
      ...login,
    });

  test('lets in its first key, and no other', async () => {
    expect(await stack.call('GET', `${stack.baseUrl}/v2/hosts`)).toMatchObject({ status: 200 });
    const other = `${stack.firstKey.slice(0, -1)}${stack.firstKey.endsWith('a') ? 'b' : 'a'}`;
    expect(await stack.call('GET', `${stack.baseUrl}/v2/hosts`, { key: other })).toMatchObject({ status: 401 });
  });

  test('has a broker that says nothing in the clear', async () => {
    const plain = connect({
      servers: `${stack.brokerHosts[0] ?? ''}:${String(stack.ports.client)}`,
      reconnect: false,
      timeout: 2_000,
    });
    await expect(plain).rejects.toThrow();
  });

  test('has a broker that lets nobody in without a key or a token', async () => {
    await expect(connectAs({})).rejects.toThrow('Authorization Violation');
  });

  test('has a broker that keeps an agent to its own subjects', async () => {
    const made = await stack.call('POST', `${stack.baseUrl}/v2/hosts/join-tokens`, { body: { name: 'gpu-box' } });
    host = made.body;
    const agent = await connectAs({ user: 'join', pass: host.token }, inboxPrefix(host.hostId));
    const refused: string[] = [];
    void (async () => {
      for await (const status of agent.status()) if (status.type === 'error') refused.push(String(status.error));
    })();
    const foreign = hostSubject('somebody-else' as HostId, 'report');
    agent.publish(foreign, '{}');
    agent.publish('log.0.endpoint', '{}');
    await agent.flush();
    await eventually(() => {
      expect(refused).toEqual([
        expect.stringContaining(`Publish to "${foreign}"`),
        expect.stringContaining('Publish to "log.0.endpoint"'),
      ]);
    });
    await agent.close();
  });

  test(
    'runs a job on a host that has joined with its token',
    async () => {
      await stack.startHost(host.token);
      const { body: endpoint, status } = await stack.call('POST', `${stack.baseUrl}/v2/serverless`, {
        body: {
          name: 'node-echo',
          type: 'QUEUE',
          image: 'local/node-echo',
          cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
          scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
          workers: { min: 0, max: 1, idleTimeout: 60 },
        },
      });
      expect(status).toBe(201);
      const url = `${stack.runUrl}/v2/${String(endpoint.id)}/run`;
      const job = await eventually(async () => {
        const answer = await stack.call('POST', url, { body: { input: { message: 'ahoy' } } });
        expect(answer).toMatchObject({ status: 200 });
        return answer.body as { readonly id: string };
      });
      await eventually(
        async () => {
          const answer = await stack.call('GET', `${stack.runUrl}/v2/${String(endpoint.id)}/status/${job.id}`);
          expect(answer.body).toMatchObject({ status: 'COMPLETED' });
        },
        { deadlineMs: JOB_MS, intervalMs: 200 },
      );
    },
    JOB_TEST_MS,
  );

  test(
    'is well, and `berth doctor` has looked at all of it',
    async () => {
      const diagnosis = await eventually(
        async () => {
          const seen = await stack.doctor();
          expect(found('wrong', seen)).toEqual([]);
          return seen;
        },
        { deadlineMs: JOB_MS },
      );
      expect([diagnosis.status, found('left-out', diagnosis)]).toEqual([0, []]);
      expect(new Set(diagnosis.findings.map(({ area }) => area)).size).toBe(AREAS);
    },
    JOB_TEST_MS,
  );

  test.each(BREAKS[brokers])(
    'has `berth doctor` name $what, and what mends it',
    async ({ examine, says }) => {
      const diagnosis = await examine(stack);
      expect(diagnosis.status).toBe(1);
      for (const [area, sentence, mend] of says) {
        expect(found('wrong', diagnosis)).toContainEqual(
          expect.objectContaining({
            area,
            says: expect.stringMatching(sentence),
            mend: expect.stringMatching(mend),
          }),
        );
      }
    },
    JOB_TEST_MS,
  );

  test('is told that all is there when it is made again', async () => {
    const said = JSON.parse(await stack.berth(['init', stack.installation, '--json']));
    expect(said).toMatchObject({ written: [], replaced: [], differing: [], firstKey: null });
  });
});
