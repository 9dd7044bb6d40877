import { outsideClient } from '@berth/testing/contract';
import { expect, test } from '@jest/globals';
import { useManagementApi } from './management-bench.js';

const bench = useManagementApi();
const DOCUMENT = new URL('../../../docs/wire/openapi.json', import.meta.url);
const PROGRAM = `
import createClient from 'openapi-fetch';
import type { paths } from './api.mjs';

export async function tell(baseUrl: string, key: string) {
  const { DELETE, GET, PATCH, POST } = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } });
  const created = await POST('/v2/serverless', {
    body: {
      name: 'outside', type: 'QUEUE', image: 'worker:1', cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 0, max: 2 },
    },
  });
  const id: string = created.data!.id;
  const path = { id };
  const changed = await PATCH('/v2/serverless/{id}', { params: { path }, body: { workers: { max: 5 } } });
  const read = await GET('/v2/serverless/{id}', { params: { path } });
  const memory: number | undefined = read.data?.cpu?.[0]?.memory;
  const pools = await GET('/v2/catalog/gpus', { params: { query: { include: ['AVAILABILITY'], product: ['SERVERLESS'] } } });
  const refused = await GET('/v2/hosts/{id}', { params: { path: { id: 'nobody' } } });
  const deleted = await DELETE('/v2/serverless/{id}', { params: { path } });
  return {
    created: created.response.status, max: changed.data?.workers?.max, memory,
    hasPools: pools.data?.gpus.some(({ pool }) => pool !== null),
    refused: refused.error?.title, deleted: deleted.response.status,
  };
}
`;

interface Program {
  tell(url: string, key: string): Promise<unknown>;
}

test('a client that is made of the document compiles strictly, and talks to the API', async () => {
  const { tell } = await outsideClient<Program>(DOCUMENT, PROGRAM);
  expect(await tell(bench.url, bench.operatorKey)).toEqual({
    created: 201,
    max: 5,
    memory: 4,
    hasPools: true,
    refused: 'Host not found',
    deleted: 204,
  });
});
