import { toRawJson } from '@berth/domain';
import { outsideClient } from '@berth/testing/contract';
import { expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();
const DOCUMENT = new URL('../../../docs/wire/job-openapi.json', import.meta.url);
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './api.mjs';

export async function tell(baseUrl: string, key: string, endpointId: string, worked: () => Promise<void>) {
  const { GET, POST } = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
  const accepted = await POST('/v2/{endpointId}/run', {
    params: { path: { endpointId }, header: { 'Idempotency-Key': 'once' } },
    body: { input: { a: 1 }, policy: { ttl: 60_000 } },
  });
  const jobId: string = accepted.data!.id;
  const path = { endpointId, jobId };
  const waiting = await GET('/v2/{endpointId}/status/{jobId}', { params: { path } });
  const position: number | null | undefined = waiting.data?.queue?.position;
  await worked();
  const done = await GET('/v2/{endpointId}/status-sync/{jobId}', { params: { path, query: { wait: 5_000 } } });
  const stream = await GET('/v2/{endpointId}/stream/{jobId}', { params: { path, query: { format: 'object' } } });
  const chunks = stream.data !== undefined && typeof stream.data === 'object' && 'stream' in stream.data
    ? stream.data.stream.map(({ output }) => output) : [];
  const retried = await POST('/v2/{endpointId}/retry/{jobId}', { params: { path } });
  const refused = await POST('/v2/{endpointId}/runsync', {
    params: { path: { endpointId }, query: { wait: 1 } }, body: { input: {} },
  });
  const purged = await POST('/v2/{endpointId}/purge-queue', { params: { path: { endpointId } } });
  const health = await GET('/v2/{endpointId}/health', { params: { path: { endpointId } } });
  return {
    position, status: done.data?.status, output: done.data?.output, chunks,
    retried: retried.error?.title, refused: refused.error?.title,
    removed: purged.data?.removed, completed: health.data?.jobs.completed,
  };
}

/** Never called: what a strict compiler has to refuse. */
export async function wrong(client: ReturnType<typeof createClient<paths>>) {
  // @ts-expect-error there is no such path
  await client.GET('/v2/{endpointId}/jobs', { params: { path: { endpointId: 'e' } } });
  // @ts-expect-error input is missing
  await client.POST('/v2/{endpointId}/run', { params: { path: { endpointId: 'e' } }, body: {} });
  // @ts-expect-error wait is a number
  await client.POST('/v2/{endpointId}/runsync', { params: { path: { endpointId: 'e' }, query: { wait: 'x' } }, body: { input: {} } });
}
`;

interface Program {
  tell(url: string, key: string, endpointId: string, worked: () => Promise<void>): Promise<unknown>;
}

test('a client that is made of the document compiles strictly, and talks to a router', async () => {
  const { agent, endpointId, tenant } = await bench.scene();
  const { tell } = await outsideClient<Program>(DOCUMENT, PROGRAM);
  const worked = async (): Promise<void> => {
    const job = await agent.takeOne();
    await agent.chunk(job, 0, toRawJson('{"output":"a"}'));
    await agent.done(job, completed({ sum: 3 }), 1);
  };
  expect(await tell(bench.router.url, tenant.key, endpointId, worked)).toEqual({
    position: 1,
    status: 'COMPLETED',
    output: { sum: 3 },
    chunks: ['a'],
    retried: 'Job cannot be retried',
    refused: 'Query parameters not valid',
    removed: 0,
    completed: 1,
  });
});
