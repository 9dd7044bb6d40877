import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { useManagementApi } from '../management-bench.js';
import { DEBUG, ERROR, LogLines, WARN, type LogLine } from './log-lines.js';
import { Wire, type WireAnswer } from './wire.js';

const TOO_LARGE = 2 * 1_024 * 1_024;

const log = new LogLines();
const bench = useManagementApi({ log, environment: { BERTH_LOG_LEVEL: 'debug' } });
let wire: Wire;

beforeAll(() => {
  wire = new Wire(bench.url);
});

afterAll(() => {
  wire.close();
});

/** The lines about the request that a problem names. */
const linesOf = (answer: WireAnswer | null): Promise<readonly LogLine[]> =>
  eventually(() => {
    const { instance } = JSON.parse(answer?.text ?? '{}') as { instance?: string };
    expect(instance).toMatch(/^req_[a-z0-9]{24}$/);
    expect(answer?.headers['x-request-id']).toBe(instance);
    const lines = log.lines.filter(({ requestId }) => requestId === instance);
    expect(lines).not.toEqual([]);
    return lines;
  });

const send = (
  request: string,
  more: { key?: string | null; type?: string; body?: string } = {},
): Promise<WireAnswer> => {
  const [method = '', path = ''] = request.split(' ');
  const { body, key = bench.operatorKey, type = 'application/json' } = more;
  const authorization = key === null ? {} : { authorization: `Bearer ${key}` };
  const typed = body === undefined ? {} : { 'content-type': type };
  return wire.send({ method, path, headers: { ...authorization, ...typed }, ...(body === undefined ? {} : { body }) });
};

describe('a problem names its request by the id that the log has', () => {
  test.each<[number, string, Parameters<typeof send>[1]]>([
    [400, 'POST /v2/templates', { body: '{' }],
    [400, 'GET /v2/audit?limit=0', {}],
    [401, 'GET /v2/templates', { key: null }],
    [403, 'GET /v2/accounts', { key: 'of an account' }],
    [404, 'GET /v2/templates/none', {}],
    [404, 'GET /nothing', {}],
    [404, 'GET /v2/templates/%zz', {}],
    [405, 'PUT /v2/templates', {}],
    [413, 'POST /v2/templates', { body: 'a'.repeat(TOO_LARGE) }],
    [415, 'POST /v2/templates', { body: 'a', type: 'text/plain' }],
    [422, 'POST /v2/templates', { body: '{}' }],
  ])('%d: at level debug, %s', async (status, request, more) => {
    const key = more?.key === 'of an account' ? { key: await bench.newAccount() } : {};
    const answer = await send(request, { ...more, ...key });
    expect(answer.status).toBe(status);
    expect((await linesOf(answer)).map(({ level }) => level)).toEqual([DEBUG]);
  });

  test.each([
    [400, 'NO HTTP\r\n\r\n'],
    [431, `GET / HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('%d: at level debug, for bytes that are no request', async (status, bytes) => {
    const answer = await wire.sendBytes(bytes);
    expect(answer?.status).toBe(status);
    expect((await linesOf(answer)).map(({ level }) => level)).toEqual([DEBUG]);
  });

  test('500: at level error, with the cause, of which the answer tells nothing', async () => {
    await bench.source.query('ALTER TABLE registries RENAME TO gone');
    const answer = await send('GET /v2/registries');
    await bench.source.query('ALTER TABLE gone RENAME TO registries');
    expect([answer.status, answer.text.includes('registries')]).toEqual([500, false]);
    const lines = await linesOf(answer);
    const [error] = lines.filter(({ level }) => level >= ERROR);
    expect(error).toMatchObject({ method: 'GET', path: '/v2/registries', accountId: 'default' });
    expect(JSON.stringify(error?.['error'])).toContain('relation \\"registries\\" does not exist');
  });

  test('503: at level warn, with the cause', async () => {
    await bench.postgres.server.kill();
    const answer = await send('GET /v2/registries');
    expect(answer.status).toBe(503);
    const [warning] = (await linesOf(answer)).filter(({ level }) => level === WARN);
    expect(warning).toMatchObject({ path: '/v2/registries', error: { cause: expect.anything() } });
    await bench.postgres.restart('kill');
  });
});
