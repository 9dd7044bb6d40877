import { gzipSync } from 'node:zlib';
import { inParallel } from '@berth/lifecycle';
import { SeededRandom } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bodyFields, withField } from '../access-matrix/body-fields.js';
import { operationsOf, readDocument } from '../access-matrix/operations.js';
import { ROUTES, pathOf, type Route } from '../access-matrix/routes.js';
import { Tenant, type Resource } from '../access-matrix/tenant.js';
import type { ApiDocument, Operation } from '@berth/http';
import { useManagementApi } from '../management-bench.js';
import { LeakCheck } from '../tenant-isolation/leak-check.js';
import { readFuzzConfig } from './config.js';
import {
  BROKEN_TEXTS,
  HOSTILE_HEADER_VALUES,
  HOSTILE_QUERIES,
  HOSTILE_QUERY_VALUES,
  HOSTILE_SEGMENTS,
  hostileText,
  hostileValue,
  toJson,
} from './hostile-values.js';
import { ERROR, LogLines } from './log-lines.js';
import { oddities } from './problem-shape.js';
import { Wire, type WireAnswer, type WireRequest } from './wire.js';

const { seed: SEED } = readFuzzConfig();
const OPEN_TIMEOUT_MS = 240_000;
const IN_PARALLEL = 8;
const VALUES_PER_FIELD = 6;
const MIXED_BODIES = 40;
const TOLD_CHARACTERS = 1_000;
/** In the name of a test. */
const SHOWN_CHARACTERS = 50;
const TEN_MIB = 10 * 1_024 * 1_024;

const log = new LogLines();
const bench = useManagementApi({
  log,
  environment: { BERTH_RATE_LIMIT_HOUR: 'off', BERTH_RATE_LIMIT_DAY: 'off' },
});

let alpha: Tenant;
let bravo: Tenant;
let check: LeakCheck;
let wire: Wire;
let document: ApiDocument;
let operations: ReadonlyMap<string, Operation>;

beforeAll(async () => {
  alpha = await Tenant.open(bench, 'alpha');
  bravo = await Tenant.open(bench, 'bravo');
  check = new LeakCheck(bravo);
  wire = new Wire(bench.url);
  document = await readDocument(bench.url);
  operations = operationsOf(document);
}, OPEN_TIMEOUT_MS);

afterAll(() => {
  wire.close();
});

const routes = Object.entries(ROUTES);
const withBody = routes.filter(([, { body }]) => body !== undefined);
/** What ends something would find nothing the second time. */
const lasting = routes.filter(([, { isLast }]) => isLast !== true);

/** A request that is in order, to be spoilt. */
function goodRequest(name: string, { body, ids = {}, scope }: Route): GoodRequest {
  const [method = '', path = ''] = pathOf(name, (parameter) => alpha.id(ids[parameter] as Resource)).split(' ');
  const authorization = `Bearer ${scope === 'admin' ? bench.operatorKey : alpha.key}`;
  if (body === undefined) return { method, path, headers: { authorization } };
  return { method, path, headers: { authorization, 'content-type': 'application/json' }, body: toJson(body(alpha)) };
}

type GoodRequest = WireRequest & { readonly headers: Readonly<Record<string, string>> };

/** Sends them all. @returns the answers, in order */
const survive = (requests: readonly WireRequest[]): Promise<readonly WireAnswer[]> =>
  inParallel(requests, IN_PARALLEL, async (request) => {
    const answer = await wire.send(request);
    expectNoFault(answer, request);
    return answer;
  });

function expectNoFault(answer: WireAnswer, request: WireRequest): void {
  const { body, headers, method, path } = request;
  const sent = JSON.stringify([method, path, headers, String(body)]);
  const isOperator = sent.includes(bench.operatorKey);
  const faults = [
    ...oddities(answer, { isHead: method === 'HEAD' }),
    ...(isOperator ? [] : check.leaks({ body: answer.text, headers: new Headers() }, sent)),
  ];
  const told = sent.slice(0, TOLD_CHARACTERS);
  expect({ told, faults }).toEqual({ told, faults: [] });
}

const statusesOf = (answers: readonly WireAnswer[]): readonly number[] => answers.map(({ status }) => status);

describe(`seed ${SEED} (BERTH_FUZZ_SEED)`, () => {
  const random = new SeededRandom(SEED);

  describe('bodies that are no JSON object, or too much of one', () => {
    const deep = (open: string, close: string) => `{"name":${open.repeat(10_000)}${close.repeat(10_000)}}`;
    const invalid: readonly [string, string | Uint8Array][] = [
      ['empty', ''],
      ['white space', ' \r\n\t'],
      ['half of one', '{"name":"a'],
      ['two of them', '{}{}'],
      ['a list', '[]'],
      ['a list of objects', '[{}]'],
      ['null', 'null'],
      ['a text', '"name"'],
      ['a number', '1e999'],
      ['NaN', '{"name":NaN}'],
      ['a comment', '{/* */}'],
      ['a form', 'name=a&image=b'],
      ['markup', '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>'],
      ['brackets 10,000 deep', deep('[', ']')],
      ['objects 10,000 deep', deep('{"a":', '}')],
      ['open brackets alone', '['.repeat(100_000)],
      ['bytes that are no UTF-8', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
      ['a surrogate in UTF-8', new Uint8Array([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
      ['UTF-16', Buffer.from('\ufeff{}', 'utf16le')],
      ['a raw NUL', '{"name":"\0"}'],
    ];

    test.each(withBody)('%s', async (name, route) => {
      const good = goodRequest(name, route);
      const answers = await survive(invalid.map(([, body]) => ({ ...good, body })));
      expect(statusesOf(answers)).toEqual(invalid.map(() => 400));
      const { authorization } = good.headers;
      const zipped = gzipSync(good.body ?? '');
      const [large, chunked, gzip, deflate, untyped, typed, multipart] = await survive([
        { ...good, body: `{"name":"${'a'.repeat(TEN_MIB)}"}` },
        { ...good, headers: { ...good.headers, 'transfer-encoding': 'chunked' }, body: 'x'.repeat(TEN_MIB) },
        { ...good, headers: { ...good.headers, 'content-encoding': 'gzip' }, body: zipped },
        { ...good, headers: { ...good.headers, 'content-encoding': 'deflate, br' } },
        { ...good, headers: { authorization } },
        { ...good, headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' } },
        { ...good, headers: { authorization, 'content-type': 'multipart/form-data; boundary=a' } },
      ] as WireRequest[]);
      expect([large?.status, chunked?.status]).toEqual([413, 413]);
      for (const answer of [gzip, deflate, untyped, typed, multipart]) expect(answer?.status).toBe(415);
    });

    test.each(withBody)('%s takes one in chunks, and one behind a byte order mark', async (name, route) => {
      const good = goodRequest(name, route);
      const answers = await survive([
        { ...good, headers: { ...good.headers, 'transfer-encoding': 'chunked' } },
        { ...good, body: `\ufeff${String(good.body)}` },
        { ...good, headers: { ...good.headers, 'content-encoding': 'identity' } },
        { ...good, headers: { ...good.headers, 'content-type': 'Application/JSON ; charset=UTF-8' } },
      ]);
      expect(statusesOf(answers)).toEqual(answers.map(() => route.success));
    });

    test.each(lasting.filter(([, { body }]) => body === undefined))('%s wants none of them', async (name, route) => {
      const good = { ...goodRequest(name, route) };
      const headers = { ...good.headers, 'content-type': 'application/json' };
      await survive(invalid.map(([, body]) => ({ ...good, headers, body })));
    });
  });

  describe('values that no field means', () => {
    test.each(withBody)('%s, one field at a time', async (name, route) => {
      const good = goodRequest(name, route);
      const fields = bodyFields(document, operations.get(name));
      const body = route.body?.(alpha) ?? {};
      const spoilt = fields.flatMap(({ path }) =>
        Array.from({ length: VALUES_PER_FIELD }, () => withField(body, path, hostileValue(random))),
      );
      await survive(spoilt.map((each) => ({ ...good, body: toJson(each) })));
      const broken = fields.flatMap(({ path }) => BROKEN_TEXTS.map((text) => withField(body, path, text)));
      const answers = await survive(broken.map((each) => ({ ...good, body: toJson(each) })));
      expect(statusesOf(answers)).toEqual(broken.map(() => 422));
    });

    test.each(withBody)('%s, many at once', async (name, route) => {
      const good = goodRequest(name, route);
      const paths = bodyFields(document, operations.get(name)).map(({ path }) => path);
      const bodies = Array.from({ length: MIXED_BODIES }, () => {
        const chosen = paths.filter(() => random.chance(0.3));
        const more = random.chance(0.3) ? { [hostileText(random)]: hostileValue(random) } : {};
        const start: object = { ...(random.chance(0.5) ? route.body?.(alpha) : {}), ...more };
        return chosen.reduce((body, path) => withField(body, path, hostileValue(random)), start);
      });
      await survive(bodies.map((body) => ({ ...good, body: toJson(body) })));
    });

    test.each(withBody)('%s, members that nobody declared', async (name, route) => {
      const good = goodRequest(name, route);
      const body = toJson(route.body?.(alpha));
      const strangers = [
        '__proto__',
        'constructor',
        'prototype',
        'toString',
        'hasOwnProperty',
        'isAdmin',
        '',
        'a.b',
        '$',
      ];
      const requests = strangers.map((stranger) => ({
        ...good,
        body: body.replace('{', `{${JSON.stringify(stranger)}:{"isAdmin":true},`),
      }));
      expect(statusesOf(await survive(requests))).toEqual(strangers.map(() => 422));
      expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
    });
  });

  test.each(routes.filter(([, { ids }]) => ids !== undefined))(
    'ids that nobody has, in the path of %s',
    async (name, route) => {
      const good = goodRequest(name, route);
      const ids = Object.entries(route.ids ?? {});
      const requests = ids.flatMap(([spoilt]) =>
        HOSTILE_SEGMENTS.map((segment) => {
          const path = pathOf(name, (each) => (each === spoilt ? segment : alpha.id(route.ids?.[each] as Resource)));
          return { ...good, path: path.split(' ')[1] ?? '' };
        }),
      );
      for (const answer of await survive(requests)) expect(answer.status).toBe(404);
    },
  );

  test.each(lasting)('queries of %s', async (name, route) => {
    const good = goodRequest(name, route);
    const parameters = (operations.get(name)?.parameters ?? []).filter((parameter) => parameter.in === 'query');
    const values = parameters.flatMap((parameter) =>
      HOSTILE_QUERY_VALUES.flatMap((value) => [
        `${parameter.name}=${value}`,
        `${parameter.name}=${value}&${parameter.name}=${random.pick(HOSTILE_QUERY_VALUES)}`,
        `${parameter.name}[${random.pick(HOSTILE_QUERY_VALUES)}]=${value}`,
      ]),
    );
    const mixed = Array.from({ length: parameters.length * 4 }, () =>
      parameters.map((parameter) => `${parameter.name}=${random.pick(HOSTILE_QUERY_VALUES)}`).join('&'),
    );
    const queries = [...HOSTILE_QUERIES, ...values, ...mixed];
    await survive(queries.map((query) => ({ ...good, path: `${good.path}?${query}` })));
  });

  describe('headers', () => {
    const names = [
      'accept',
      'accept-encoding',
      'accept-language',
      'content-type',
      'content-encoding',
      'cookie',
      'expect',
      'forwarded',
      'idempotency-key',
      'if-match',
      'if-modified-since',
      'if-none-match',
      'origin',
      'range',
      'te',
      'traceparent',
      'tracestate',
      'upgrade',
      'x-forwarded-for',
      'x-http-method-override',
      'x-request-id',
    ];

    test.each(lasting)('of %s', async (name, route) => {
      const good = goodRequest(name, route);
      const spoilt = names.flatMap((header) =>
        [random.pick(HOSTILE_HEADER_VALUES), random.pick(HOSTILE_HEADER_VALUES)].map((value) => ({
          ...good,
          headers: { ...good.headers, [header]: value },
        })),
      );
      await survive(spoilt);
    });

    test.each(['/docs', '/docs/swagger-ui.css', '/docs/nothing.css', '/openapi.json'])('of %s', async (path) => {
      const spoilt = names.flatMap((header) =>
        HOSTILE_HEADER_VALUES.map((value) => ({ method: 'GET', path, headers: { [header]: value } })),
      );
      await survive(spoilt);
    });

    test('that override the method have no effect', async () => {
      const id = await alpha.make('template');
      const authorization = `Bearer ${alpha.key}`;
      for (const header of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
        await survive([
          { method: 'GET', path: `/v2/templates/${id}?_method=DELETE`, headers: { authorization, [header]: 'DELETE' } },
        ]);
      }
      expect(await bench.call(`GET /v2/templates/${id}`, { key: alpha.key })).toMatchObject({ status: 200 });
    });

    test.each(HOSTILE_HEADER_VALUES.map((value) => [value.slice(0, SHOWN_CHARACTERS), value]))(
      'authorization: %s',
      async (_, value) => {
        const values = [
          value,
          `Bearer ${value}`,
          `Basic ${value}`,
          `Bearer ${alpha.key} ${value}`,
          `${value} Bearer ${alpha.key}`,
        ];
        const requests = values.map((authorization) => ({
          method: 'GET',
          path: '/v2/templates',
          headers: { authorization },
        }));
        for (const answer of await survive(requests)) expect([200, 401]).toContain(answer.status);
      },
    );

    test('two keys are not more than the first of them', async () => {
      const weak = await bench.newKey(['jobs:read'], { maker: alpha.key });
      const ask = (first: string, second: string) =>
        wire.sendBytes(
          `GET /v2/templates HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer ${first}\r\nauthorization: Bearer ${second}\r\n\r\n`,
        );
      expect((await ask(weak, alpha.key))?.status).toBe(403);
      expect((await ask(alpha.key, bravo.key))?.text).not.toContain(bravo.mark);
    });
  });

  describe('bytes', () => {
    // The key is known once the account is there.
    const send = (bytes: string, breaksOff = false) =>
      wire.sendBytes(bytes.replaceAll('KEY', alpha.key), { breaksOff });
    const get = (path: string, more = ''): string =>
      `GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer KEY\r\n${more}\r\n`;
    const post = (head: string, body: string): string =>
      `POST /v2/templates HTTP/1.1\r\nhost: a\r\nconnection: close\r\nauthorization: Bearer KEY\r\ncontent-type: application/json\r\n${head}\r\n${body}`;

    test.each(
      [
        '//v2/templates',
        '/v2//templates',
        '/v2/templates/',
        '/v2/templates//',
        '/v2/./templates',
        '/v2/x/../templates',
        '/v2/%2e%2e/v2/templates',
        '/v2%2ftemplates',
        '/v2/templates%00',
        '/v2/templates;a=b',
        '/v2/templates%3fa=b',
        '/v2\\templates',
        '/V2/TEMPLATES',
        '/v2/templates\u00ff',
        '/v2/templates/\u00c3\u0028',
        '/v2/templates.json',
        '/docs/problems/..%2f..%2f..%2fpackage.json',
        '/docs/problems/%2e%2e%2f%2e%2e%2fREADME',
        '/docs/../../../../etc/passwd',
        '/docs/static/..%2f..%2f..%2fpackage.json',
        '/__proto__',
        '/constructor/prototype',
        `/${'a/'.repeat(4_000)}`,
        '*',
        'v2/templates',
        '?a=b',
        'http://other.example.com/v2/templates/none',
      ].map((path) => [path.slice(0, SHOWN_CHARACTERS), path] as const),
    )('a path that names nothing: %s', async (_, path) => {
      const answer = await send(get(path));
      expect(answer).not.toBeNull();
      if (answer !== null) expectNoFault(answer, { method: 'GET', path });
      expect([400, 404]).toContain(answer?.status);
    });

    test.each([
      ['a length short of the body', post('content-length: 3\r\n', '{"name":"a"}')],
      ['a length that is no number', post('content-length: 1e1\r\n', '{}')],
      ['a length and chunks', post('content-length: 2\r\ntransfer-encoding: chunked\r\n', '2\r\n{}\r\n0\r\n\r\n')],
      ['a chunk of no size', post('transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n')],
      ['another coding than chunks', post('transfer-encoding: gzip\r\n', '{}')],
      ['no host', 'GET /v2/templates HTTP/1.1\r\n\r\n'],
      ['two hosts', get('/v2/templates/none', 'host: b\r\n')],
      ['HTTP/2 to a port of HTTP/1.1', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['a handshake of TLS', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
      ['a header of 20 KB', get('/v2/templates', `x: ${'a'.repeat(20_000)}\r\n`)],
      ['3,000 headers', get('/v2/templates/none', 'a: b\r\n'.repeat(3_000))],
      ['a header without a colon', get('/v2/templates', 'nonsense\r\n')],
      ['a header with a NUL', get('/v2/templates', 'x: a\0b\r\n')],
      ['a header over two lines', get('/v2/templates', 'x: a\r\n b\r\n')],
      ['a bare line feed', 'GET /v2/templates HTTP/1.1\nhost: a\n\n'],
      ['an unknown verb', 'FROB /v2/templates HTTP/1.1\r\nhost: a\r\n\r\n'],
      ['an unknown version', 'GET /v2/templates HTTP/9.9\r\nhost: a\r\n\r\n'],
      ['a request behind a request', `${get('/v2/templates/none')}${get('/v2/templates/none')}`],
      ['a switch of protocols', get('/v2/templates/none', 'connection: upgrade\r\nupgrade: websocket\r\n')],
      ['a tunnel', 'CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n'],
    ])('%s', async (_, bytes) => {
      const answer = await send(bytes);
      // A connection that just ends is an answer too: nothing was promised on it.
      if (answer === null) return;
      expectNoFault(answer, { method: '', path: bytes.slice(0, 200) });
      expect(answer.status).toBeGreaterThanOrEqual(400);
    });
  });

  test.each([
    ['in the request line', 'GET /v2/temp'],
    ['in a header', 'POST /v2/templates HTTP/1.1\r\nhost: a\r\nauthoriz'],
    ['in a body of a known length', 'content-length: 100\r\n\r\n{"name":"a"'],
    ['in a chunk', 'transfer-encoding: chunked\r\n\r\n20\r\n{"name":"a"'],
    ['in a chunk of a great size', 'transfer-encoding: chunked\r\n\r\nffffffff\r\n{'],
    ['between two chunks', 'transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n'],
  ])('who breaks off %s is not waited for', async (_, bytes) => {
    const head = `POST /v2/templates HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${alpha.key}\r\ncontent-type: application/json\r\n`;
    const answer = await wire.sendBytes(/^(GET|POST)/.test(bytes) ? bytes : `${head}${bytes}`, { breaksOff: true });
    if (answer !== null) expectNoFault(answer, { method: 'POST', path: bytes });
  });

  describe('afterwards', () => {
    test('everything is still there, and answers', async () => {
      for (const [name, { ids = {}, scope }] of routes.filter(([name]) => name.startsWith('GET '))) {
        for (const tenant of [alpha, bravo]) {
          const path = pathOf(name, (parameter) => tenant.id(ids[parameter] as Resource));
          const key = scope === 'admin' ? bench.operatorKey : tenant.key;
          expect([path, (await bench.call(path, { key })).status]).toEqual([path, 200]);
        }
      }
      expect((await fetch(`${bench.operationsUrl}/readyz`)).status).toBe(200);
    });

    test('nothing was logged as an error of ours', () => {
      expect(log.lines.filter(({ level }) => level >= ERROR)).toEqual([]);
    });
  });
});
