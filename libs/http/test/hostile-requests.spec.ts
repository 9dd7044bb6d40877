import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { Body, Controller, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { describe, expect, test } from '@jest/globals';
import { RequireScope } from '../src/auth/access.decorator.js';
import {
  IntegerField,
  NameField,
  NestedField,
  NestedListField,
  NumberField,
  TextField,
  TextListField,
  TextMapField,
} from '@berth/contracts/http';
import { useEdge } from './edge-bench.js';

const optional = { isOptional: true, description: 'Some field.' } as const;

class PartDto {
  @TextField({ ...optional, maxLength: 40 })
  label?: string;

  @TextField({ ...optional, maxLength: 40 })
  color?: string;
}

class ThingDto {
  @NameField({ description: 'Name.' })
  name!: string;

  @IntegerField({ ...optional, minimum: 0, maximum: 9 })
  count?: number;

  @NumberField({ ...optional, minimum: 0, maximum: 9 })
  share?: number;

  @TextListField({ ...optional, maxItems: 4 })
  ports?: string[];

  @TextMapField({ ...optional, keyPattern: /^.*$/su, keysMax: 4, bytesMax: 100 })
  env?: Record<string, string>;

  @NestedField(PartDto, optional)
  part?: PartDto;

  @NestedListField(PartDto, { ...optional, maxItems: 4, isUnique: true })
  parts?: PartDto[];
}

class PageDto {
  @TextField({ ...optional, maxLength: 4 })
  limit?: string;
}

const taken: string[] = [];

@Controller('things')
@RequireScope('serverless:write')
class ThingsController {
  @Post()
  create(@Body() thing: ThingDto) {
    return { thing };
  }

  @Get()
  list(@Query() { limit }: PageDto) {
    return { limit };
  }

  @Get(':id')
  read(@Param('id') id: string) {
    return { id };
  }

  @Get(':id/next')
  takeNext(@Param('id') id: string) {
    taken.push(id);
    return { id };
  }

  @Patch(':id')
  update(@Param('id') id: string) {
    return { id };
  }
}

const bench = useEdge([ThingsController], {
  options: { bodyMaxBytes: () => 128 * 1_024, getHasEffect: (route) => route === '/things/:id/next' },
});

const create = (text: string | Uint8Array<ArrayBuffer>) => bench.call('POST /things', { text });

/** Sends the path as it is; a client for people would tidy it up. */
const send = async (method: string, path: string, headers: Record<string, string | string[]> = {}) => {
  const options = { port: bench.port, method, path, headers: { authorization: bench.authorization, ...headers } };
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(options, resolve).on('error', reject).end();
  });
  return { status: response.statusCode, headers: response.headers, text: await textOf(response) };
};

/** Bytes on the wire, for what no client would send. */
const sendRaw = (bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(bench.port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    resolve(textOf(socket.on('error', reject)));
  });

const problemIn = (answer: string): unknown => JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));

describe('a body', () => {
  const deep = (open: string, close: string, levels: number): string => open.repeat(levels) + close.repeat(levels);

  test.each([
    ['cut off', '{"name":"a"'],
    ['two values', '{"name":"a"}{}'],
    ['no JSON', 'name=a'],
    ['NaN', '{"name":"a","count":NaN}'],
    ['a trailing comma', '{"name":"a",}'],
    ['a raw NUL', '{"name":"\0"}'],
    ['a raw line break', '{"name":"\n"}'],
    ['10,000 arrays deep', `{"name":${deep('[', ']', 10_000)}}`],
    ['10,000 open brackets', '['.repeat(10_000)],
    [
      '10,000 objects deep, where it is compared',
      `{"name":"a","parts":[{"label":${deep('{"a":', '}', 9_000).replace('}', '1}')}}]}`,
    ],
    ['bad UTF-8', new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d])],
    ['a surrogate in UTF-8', new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00])],
    ['a number', '1'],
    ['a string', '"{}"'],
  ])('with %s is 400', async (_, text) => {
    expect(await create(text)).toMatchObject({ status: 400, body: { title: 'Body is not a JSON object' } });
  });

  test.each([
    ['{"name":"\\u0000"}', '$.name: must not contain a NUL character'],
    ['{"name":"a\\ud800"}', '$.name: must be well-formed Unicode'],
    ['{"name":"\\udc00\\ud800"}', '$.name: must be well-formed Unicode'],
    ['{"name":"a","ports":["80","\\ud800"]}', '$.ports[1]: must be well-formed Unicode'],
    ['{"name":"a","env":{"A":"\\u0000"}}', '$.env.A: must not contain a NUL character'],
    ['{"name":"a","env":{"\\u0000":"A"}}', '$.env: has a member whose name must not contain a NUL character'],
    ['{"name":"a","part":{"label":"\\ud800"}}', '$.part.label: must be well-formed Unicode'],
    ['{"name":"a","parts":[{"label":"\\u0000"}]}', '$.parts[0].label: must not contain a NUL character'],
    ['{"name":"a","count":1e999}', '$.count: must be an integer'],
    ['{"name":"a","share":1e999}', '$.share: must be a number'],
    ['{"name":"a","count":1.5}', '$.count: must be an integer'],
    ['{"name":"a","count":true}', '$.count: must be an integer'],
    ['{"name":"a","count":null}', '$.count: must be an integer'],
    ['{"name":["a"]}', '$.name: must be a string'],
    ['{"name":{"length":1}}', '$.name: must be a string'],
    ['{"name":"a","part":[]}', '$.part: must be an object'],
    ['{"name":"a","parts":"ab"}', '$.parts: must be an array'],
    ['{"name":"a","parts":[{"label":{"toString":1},"color":"a"}]}', '$.parts[0].label: must be a string'],
    ['{"name":"a","__proto__":{"count":1}}', "$: additional properties '__proto__' not allowed"],
    ['{"name":"a","constructor":{"prototype":{}}}', "$: additional properties 'constructor' not allowed"],
  ])('%s is 422 and says which field', async (text, error) => {
    expect(await create(text)).toMatchObject({ status: 422, body: { errors: [error] } });
  });

  test('may repeat a member, of which the last counts, or write zero with a sign', async () => {
    const answer = await create('{"name":"a","name":"b","count":-0,"share":-0.0}');
    expect(answer).toMatchObject({ status: 201, text: '{"thing":{"name":"b","count":0,"share":0}}' });
  });

  test('may have any names in a map', async () => {
    const answer = await create('{"name":"a","env":{"__proto__":"x","constructor":"y","toString":"z"}}');
    expect(answer.text).toBe('{"thing":{"name":"a","env":{"__proto__":"x","constructor":"y","toString":"z"}}}');
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  test('that is packed is 415, whatever is in it', async () => {
    for (const coding of ['gzip', 'deflate', 'br', 'zstd', 'identity, gzip', 'x']) {
      const answer = await bench.call('POST /things', {
        text: '{"name":"a"}',
        headers: { 'content-encoding': coding },
      });
      expect([coding, answer.status]).toEqual([coding, 415]);
    }
    const plain = { text: '{"name":"a"}', headers: { 'content-encoding': 'identity' } };
    expect(await bench.call('POST /things', plain)).toMatchObject({ status: 201 });
  });

  test.each([
    ['is too large', 'application/json', 413],
    ['is of another type', 'text/plain', 415],
  ])('that %s is answered although its sender reads nothing before it has sent all of it', async (...row) => {
    const [, type, status] = row;
    const head = (length: number): string =>
      `POST /things HTTP/1.1\r\nhost: x\r\nauthorization: ${bench.authorization}\r\ncontent-type: ${type}\r\ncontent-length: ${String(length)}\r\n\r\n`;
    const next = 'GET /nothing HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n';
    const answers = await sendRaw(`${head(16 * 1_024 * 1_024)}${'x'.repeat(16 * 1_024 * 1_024)}${next}`);
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual([`HTTP/1.1 ${String(status)}`, 'HTTP/1.1 404']);
  });

  test.each([
    'application/json',
    'application/json ; charset=utf-8',
    ' Application/JSON',
    'application/problem+json;a=b',
  ])('of the type "%s" is read', async (type) => {
    const answer = await bench.call('POST /things', { text: '{"name":"a"}', headers: { 'content-type': type } });
    expect(answer.status).toBe(201);
  });

  test('that is too large is 413, and of another type 415', async () => {
    expect(await create(`{"name":"${'a'.repeat(128 * 1_024)}"}`)).toMatchObject({ status: 413 });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=a',
      ';;;',
      'json',
    ]) {
      const answer = await bench.call('POST /things', { text: '{"name":"a"}', headers: { 'content-type': type } });
      expect([type, answer.status]).toEqual([type, 415]);
    }
  });
});

describe('a path', () => {
  test.each([
    '/nothing',
    '/things/../nothing',
    '/things/a/../../etc/passwd',
    '/things/%2e%2e/%2e%2e',
    '/things/%00',
    '/things/%c3%28',
    '/things/%zz',
    '/things/a%2fb/c',
    '//things/a',
    '/things/a/',
    '/THINGS/a',
    '/__proto__',
    '/things/a/constructor',
  ])('that names nothing (%s) is 404', async (path) => {
    const { headers, status, text } = await send('GET', path);
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 404,
      type: 'application/problem+json; charset=utf-8',
    });
    expect(JSON.parse(text)).toMatchObject({ title: 'No such path', instance: headers['x-request-id'] });
  });

  test('of 8,000 characters is 404 too', async () => {
    expect(await send('GET', `/things/${'a'.repeat(8_000)}`)).toMatchObject({ status: 404 });
  });

  test('is one name, whatever is encoded in it', async () => {
    for (const [path, id] of [
      ['/things/a%2fb', 'a/b'],
      ['/things/%2e%2e', '..'],
      ['/things/__proto__', '__proto__'],
      ['/things/%E2%82%AC', '€'],
    ]) {
      expect(JSON.parse((await send('GET', path ?? '')).text)).toEqual({ id });
    }
  });
});

describe('a verb', () => {
  test.each(['DELETE', 'PUT', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    'that a path does not answer (%s) is 405 with Allow',
    async (method) => {
      const { headers, status } = await send(method, '/things/a');
      expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD, PATCH' });
    },
  );

  test('HEAD answers like GET, without a body', async () => {
    expect(await send('HEAD', '/things/a')).toMatchObject({ status: 200, text: '' });
  });

  test('HEAD is not answered where GET has an effect', async () => {
    const { headers, status, text } = await send('HEAD', '/things/a/next');
    expect({ status, allow: headers.allow, text, taken }).toEqual({ status: 405, allow: 'GET', text: '', taken: [] });
    expect(await send('GET', '/things/a/next')).toMatchObject({ status: 200 });
    expect(taken).toEqual(['a']);
  });
});

test.each([
  ['limit=1&limit=2', '$.limit: must be a string'],
  ['limit[]=1', "$: additional properties 'limit[]' not allowed"],
  ['limit=%00', '$.limit: must not contain a NUL character'],
  ['__proto__=1', "$: additional properties '__proto__' not allowed"],
  ['toString', "$: additional properties 'toString' not allowed"],
])('a query %s is 400 and says why', async (query, error) => {
  const { status, text } = await send('GET', `/things?${query}`);
  expect([status, JSON.parse(text).errors]).toEqual([400, [error]]);
});

describe('headers', () => {
  test('that are odd change nothing, or are refused', async () => {
    for (const headers of [
      { accept: 'image/png' },
      { 'accept-encoding': 'nothing;q=x' },
      { traceparent: 'zz', tracestate: '\u0080' },
      { 'x-request-id': 'a'.repeat(1_000) },
      { cookie: ['a=b', 'c'] },
      { 'x-forwarded-for': '"', forwarded: ';;' },
      { 'if-none-match': '\u00ff' },
      { range: 'bytes=9-1' },
      { expect: 'something-else' },
      { 'content-type': 'application/json', 'content-length': '0' },
    ]) {
      expect((await send('GET', '/things/a', headers)).status).toBe(200);
    }
    expect((await send('GET', '/things/a', { authorization: `Bearer ${'x'.repeat(4_000)}` })).status).toBe(401);
  });

  test('that are too long are 431', async () => {
    const answer = await sendRaw(`GET /things/a HTTP/1.1\r\nhost: a\r\nx: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(problemIn(answer)).toMatchObject({ status: 431, title: 'Request headers too large' });
  });
});

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['no host', 'GET /things/a HTTP/1.1\r\n\r\n'],
  ['two lengths', 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}'],
  ['a negative length', 'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n'],
  [
    'a length and chunks',
    'POST /things HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  [
    'a chunk of bad size',
    'POST /things HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n\r\n',
  ],
  ['a path without a slash', 'GET things HTTP/1.1\r\nhost: a\r\n\r\n'],
  ['a NUL in a header', 'GET /things/a HTTP/1.1\r\nhost: a\r\nx: a\0b\r\n\r\n'],
  ['an unknown verb', 'FROB /things/a HTTP/1.1\r\nhost: a\r\n\r\n'],
])('bytes that are no request (%s) are 400, and the connection ends', async (_, bytes) => {
  const answer = await sendRaw(bytes);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  const instance = /^x-request-id: (req_\w+)\r$/m.exec(answer)?.[1];
  expect(problemIn(answer)).toEqual({
    type: 'https://docs.test/problems/malformed-request',
    title: 'Not a readable HTTP request',
    status: 400,
    detail: expect.any(String),
    instance,
  });
});
