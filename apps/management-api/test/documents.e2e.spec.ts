import { createHash } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import { PROBLEMS, whichApi } from '@berth/http';
import { useManagementApi } from './management-bench.js';

const bench = useManagementApi();
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

interface PageOptions {
  readonly swaggerDoc: unknown;
  readonly customOptions: { readonly urls: readonly { readonly name: string; readonly url: string }[] };
}

async function page(code: string, accept: string): Promise<{ status: number; headers: Headers; text: string }> {
  const answer = await fetch(`${bench.url}/docs/problems/${code}`, { headers: { accept } });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}

describe('documents need no key', () => {
  test('the interface as OpenAPI', async () => {
    const { body, status } = await bench.call('GET /openapi.json', { key: null, isOffContract: true });
    expect(status).toBe(200);
    expect(Object.keys(body.paths)).toEqual(
      expect.arrayContaining(['/v2/serverless', '/v2/serverless/{id}/workers', '/v2/hosts']),
    );
  });

  test('the interface is put into bytes once, however often strangers ask for it', async () => {
    const ask = async (): Promise<string> => (await fetch(`${bench.url}/openapi.json`)).text();
    const first = await ask();
    const stringify = jest.spyOn(JSON, 'stringify');
    const second = await ask();
    const documents = stringify.mock.calls.filter(
      ([value]) => (value as { openapi?: unknown } | null)?.openapi !== undefined,
    );
    stringify.mockRestore();
    expect(documents).toEqual([]);
    expect(second).toBe(first);
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

  test('the page has both interfaces, each with its document', async () => {
    const script = await (await fetch(`${bench.url}/docs/swagger-ui-init.js`)).text();
    const options = JSON.parse(/let options = (\{.*?\n\});/s.exec(script)?.[1] ?? '{}') as PageOptions;
    expect(options.swaggerDoc).toEqual({});
    const titles = options.customOptions.urls.map(async ({ name, url }) => {
      const { body, status } = await bench.call(`GET ${url}`, { key: null, isOffContract: true });
      return [name, status, body.info.title as string];
    });
    expect(await Promise.all(titles)).toEqual([
      ['Management API', 200, 'Berth management API'],
      ['Job API', 200, 'Berth job API'],
    ]);
  });

  test('the page has a tab for each of them, whose address chooses its document', async () => {
    const { body } = await bench.call('GET /docs', { key: null, isOffContract: true });
    const tabs = [...(body as string).matchAll(/<a href="([^"]+)">([^<]+)<\/a>/g)].map(([, address = '', name]) => [
      name,
      new URL(address, `${bench.url}/docs`).searchParams.get('urls.primaryName'),
    ]);
    expect(tabs).toEqual([
      ['Management API', 'Management API'],
      ['Job API', 'Job API'],
    ]);
  });

  test.each(Object.keys(PROBLEMS))('the page of the problem %s', async (code) => {
    const { body, headers, status } = await bench.call(`GET /docs/problems/${code}`, { key: null });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(body).toContain(`# ${PROBLEMS[code as keyof typeof PROBLEMS].title}`);
  });

  test.each(Object.keys(PROBLEMS))('the page of the problem %s is HTML in a browser', async (code) => {
    const { status, headers, text } = await page(code, BROWSER);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('vary')).toMatch(/accept/i);
    expect(text).toMatch(/^<!doctype html>/);
    expect(text).toContain(`<h1>${PROBLEMS[code as keyof typeof PROBLEMS].title}</h1>`);
    // Nothing of the Markdown is left standing, and nothing comes from elsewhere or runs.
    expect(text.replaceAll(/<style>[^]*<\/style>/g, '')).not.toMatch(
      /^#|^- |^\||\*\*|`|<script|<link|src=|href="http/m,
    );
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    const style = /<style>([^]*)<\/style>/.exec(text)?.[1] ?? '';
    expect(policy).toContain(`'sha256-${createHash('sha256').update(style).digest('base64')}'`);
  });

  test.each([
    ['curl', '*/*', 'text/plain'],
    ['who wants Markdown', 'text/markdown, text/html;q=0.5', 'text/plain'],
    ['who wants no HTML', 'text/html;q=0, */*', 'text/plain'],
    ['who wants HTML', 'text/html', 'text/html'],
  ])('%s gets a problem page as they take it', async (_, accept, type) => {
    expect((await page('rate-limited', accept)).headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  });

  test('a path of the job API says where that is', async () => {
    for (const path of ['POST /v2/abc123/run', 'GET /v2/abc123/status/some-job', 'GET /v2/abc123/health']) {
      const { body, status } = await bench.call(path, { isOffContract: true });
      expect([status, body.type]).toEqual([404, 'https://api.example.com/docs/problems/route-not-found']);
      expect(body.detail).toContain('is at https://jobs.example.com.');
    }
    const { body } = await bench.call('GET /v2/nowhere', { isOffContract: true });
    expect(body.detail).toBe('There is nothing at this path.');
  });

  test('every path of this API is known as one', async () => {
    const { body } = await bench.call('GET /openapi.json', { key: null, isOffContract: true });
    const strangers = Object.keys(body.paths).filter((path) => whichApi(path) !== 'management');
    expect(strangers).toEqual([]);
  });

  test('no page of a problem that does not exist', async () => {
    expect(await bench.call('GET /docs/problems/nope', { key: null })).toMatchObject({ status: 404 });
    expect(await bench.call('GET /docs/problems/..%2F..%2Fglossary', { key: null })).toMatchObject({ status: 404 });
  });
});
