import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pollUntil } from '@berth/servers';
import { Client } from 'pg';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient, type Answer } from '../src/tenant-client.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off'];
const SUITE_MS = 300_000;

/** Each is like nothing else, so that wherever it is found it is this one. */
const planted = (what: string): string => `planted-${what}-${randomBytes(12).toString('hex')}`;
const SECRETS = {
  s3: planted('s3'),
  batch: planted('batch'),
  endpointEnv: planted('endpoint-env'),
  templateEnv: planted('template-env'),
  registry: planted('registry'),
  refused: planted('refused'),
};
/** Is given openly, and so must be found: a search that finds nothing at all has looked in the wrong place. */
const OPEN = planted('open');

const S3 = `{ "accessId" : "id","accessSecret": "${SECRETS.s3}" }`;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Every file below a folder, as bytes that a search for ASCII text can read. */
function filesBelow(folder: string): readonly { readonly path: string; readonly text: string }[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))
    .map((path) => ({ path, text: readFileSync(path, 'latin1') }));
}

const namesOfSecretsIn = (text: string): readonly string[] =>
  Object.entries(SECRETS).flatMap(([name, secret]) => (text.includes(secret) ? [name] : []));

describe('secrets, on a whole stack that has used them', () => {
  let stack: StartedStack;
  let client: TenantClient;
  let endpointId = '';
  const answers: Answer[] = [];

  const manage = async <Body>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Body> => {
    const answer = await client.manage<Body>(method, path, body);
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };

  const jobCall = async <Body>(method: 'GET' | 'POST', path: string, body?: unknown): Promise<Answer<Body>> => {
    const answer = await client.job<Body>(method, `/${endpointId}${path}`, body);
    answers.push(answer);
    return answer;
  };

  beforeAll(async () => {
    stack = await StartedStack.start(FLAGS);
    client = new TenantClient(() => stack.dev, 60_000);
    const registry = { name: 'private', username: 'puller', password: SECRETS.registry };
    const { id: registryId } = await manage<{ id: string }>('POST', '/v2/registries', registry);
    const { id: templateId } = await manage<{ id: string }>('POST', '/v2/templates', {
      name: OPEN,
      image: 'local/confidant',
      serverless: true,
      registry: registryId,
      env: { FROM_TEMPLATE: SECRETS.templateEnv },
    });
    const { id } = await manage<{ id: string }>('POST', '/v2/serverless', {
      name: OPEN,
      type: 'QUEUE',
      templateId,
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: 0, max: 1 },
      env: { CONFIDED: SECRETS.endpointEnv },
    });
    endpointId = id;
  }, SUITE_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
  }, SUITE_MS);

  test(
    'the worker is told all of them, as they were given',
    async () => {
      const body = `{"input":{"open":"${OPEN}","fragment":"${Buffer.from(`"s3Config":${S3}`).toString('base64')}"},"s3Config":${S3}}`;
      const run = await fetch(`${stack.dev.runUrl}/v2/${endpointId}/run`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.dev.apiKey}`, 'content-type': 'application/json' },
        body,
      });
      const { id } = (await run.json()) as { id: string };
      const { body: batch } = await jobCall<{ jobs: { id: string }[] }>('POST', '/run-batch', {
        requests: [{ input: {}, s3Config: { accessSecret: SECRETS.batch } }],
      });
      const ended = await Promise.all([id, batch.jobs[0]?.id ?? ''].map(untilEnded));
      expect(ended.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED']);
      expect(ended[0]?.output).toEqual({
        variable: sha256(SECRETS.endpointEnv),
        s3Config: sha256(JSON.stringify({ accessId: 'id', accessSecret: SECRETS.s3 })),
        isVerbatim: true,
      });
      expect(ended[1]?.output?.s3Config).toBe(sha256(JSON.stringify({ accessSecret: SECRETS.batch })));
      await jobCall('GET', `/stream/${id}`);
      await jobCall('GET', '/health');
      await jobCall('GET', '/requests');
    },
    SUITE_MS,
  );

  const untilEnded = (id: string): Promise<{ status: string; output?: Record<string, unknown> }> =>
    pollUntil(
      async () => {
        const { body } = await jobCall<{ status: string }>('GET', `/status/${id}`);
        return body.status === 'IN_QUEUE' || body.status === 'IN_PROGRESS' ? undefined : body;
      },
      { what: `the end of job ${id}`, deadlineMs: 120_000, intervalMs: 250 },
    );

  test('no answer of the job API shows one, and no refusal', async () => {
    const refusals = [
      await jobCall('POST', '/run', { input: 1, s3Config: { accessSecret: SECRETS.refused } }),
      await jobCall('POST', '/run', { input: {}, s3Config: { accessId: [SECRETS.refused] } }),
      await client.manage('POST', '/v2/registries', { name: 1, username: 'u', password: SECRETS.refused }),
      await client.manage('POST', '/v2/templates', { name: 't', image: 'i', env: { A: [SECRETS.refused] } }),
    ];
    expect(refusals.map(({ status }) => status)).toEqual([400, 400, 422, 422]);
    expect(namesOfSecretsIn(JSON.stringify([answers, refusals]))).toEqual([]);
  });

  test('none lies in the streams of the broker', () => {
    const files = filesBelow(join(stack.home, 'nats'));
    expect(files.some(({ text }) => text.includes(OPEN))).toBe(true);
    expect(files.flatMap(({ path, text }) => namesOfSecretsIn(text).map((name) => `${name} in ${path}`))).toEqual([]);
  });

  test('none lies in the database', async () => {
    const database = new Client({ connectionString: stack.dev.databaseUrl });
    await database.connect();
    try {
      const { rows: tables } = await database.query<{ name: string }>(
        `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
      );
      const dumps: string[] = [];
      for (const { name } of tables) {
        const { rows } = await database.query<{ text: string }>(`SELECT row_to_json(t)::text AS text FROM "${name}" t`);
        dumps.push(...rows.map(({ text }) => text));
      }
      const dump = dumps.join('\n');
      expect(dump).toContain(OPEN);
      expect(namesOfSecretsIn(dump)).toEqual([]);
    } finally {
      await database.end();
    }
  });

  test('none is in a log or a metric', async () => {
    const logs = filesBelow(join(stack.home, 'logs')).map(({ text }) => text);
    const metrics = await Promise.all(
      Object.values(stack.dev.operations).map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    expect(logs.join('').length).toBeGreaterThan(1_000);
    expect(metrics.join('')).toContain('berth_router_jobs_accepted_total');
    expect(namesOfSecretsIn([stack.output, ...logs, ...metrics].join('\n'))).toEqual([]);
  });

  test('what callers give with a job, and credentials, are not on the disk of the host either', () => {
    const folder = join(stack.home, 'agent');
    expect(statSync(folder).isDirectory()).toBe(true);
    const found = filesBelow(folder).flatMap(({ text }) => namesOfSecretsIn(text));
    expect(found.filter((name) => ['s3', 'batch', 'registry'].includes(name))).toEqual([]);
  });
});
