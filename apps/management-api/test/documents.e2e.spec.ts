import { describe, expect, test } from '@jest/globals';
import { PROBLEMS } from '@berth/http';
import { useManagementApi } from './management-bench.js';

const bench = useManagementApi();

describe('documents need no key', () => {
  test('the interface as OpenAPI', async () => {
    const { body, status } = await bench.call('GET /openapi.json', { key: null, isOffContract: true });
    expect(status).toBe(200);
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/v2/serverless', '/v2/serverless/{id}/workers', '/v2/hosts']),
    );
  });

  test('a page for people whose files all come from here', async () => {
    const { body, status } = await bench.call('GET /docs', { key: null, isOffContract: true });
    expect(status).toBe(200);
    const sources = [...(body as string).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address);
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      expect(source).not.toMatch(/^(https?:)?\/\//);
      const address = new URL(source ?? '', `${bench.url}/docs`);
      expect((await fetch(address)).status).toBe(200);
    }
  });

  test.each(Object.keys(PROBLEMS))('the page of the problem %s', async (code) => {
    const { body, headers, status } = await bench.call(`GET /docs/problems/${code}`, { key: null });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(body).toContain(`# ${PROBLEMS[code as keyof typeof PROBLEMS].title}`);
  });

  test('no page of a problem that does not exist', async () => {
    expect(await bench.call('GET /docs/problems/nope', { key: null })).toMatchObject({ status: 404 });
    expect(await bench.call('GET /docs/problems/..%2F..%2Fglossary', { key: null })).toMatchObject({ status: 404 });
  });
});
