import { Body, Controller, Get, Module, Param, Post, Query } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiKeySnapshot } from '@berth/contracts';
import { PlatformError, type AccountId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { CurrentCaller, Public, RequireScope } from '../auth/access.decorator.js';
import { API_KEY_DIRECTORY } from '../auth/api-key-directory.port.js';
import { makeApiKey } from '../auth/api-key.js';
import type { Caller } from '../auth/authenticator.js';
import { jobRendering, managementRendering } from '../problems/renderings.js';
import { IntegerField, NameField, NestedField, TextField } from '@berth/contracts/http';
import { createHttpApp, type HttpApp, type HttpAppOptions } from './http-app.js';
import { RawBody } from './raw-body.decorator.js';

class SizeDto {
  @IntegerField({ minimum: 0, maximum: 9, description: 'Height.' })
  height!: number;
}

class BoxDto {
  @NameField({ description: 'Name.' })
  name!: string;

  @NestedField(SizeDto, { description: 'Size.' })
  size!: SizeDto;
}

class PageDto {
  @TextField({ maxLength: 4, pattern: /^\d+$/, patternReason: 'must be a number', description: 'Limit.' })
  limit!: string;
}

const keys = {
  reader: makeApiKey(systemRandom),
  writer: makeApiKey(systemRandom),
  expired: makeApiKey(systemRandom),
};

const snapshot = (name: keyof typeof keys, more: Partial<ApiKeySnapshot>): ApiKeySnapshot => ({
  id: name,
  accountId: 'acc-1' as AccountId,
  prefix: keys[name].prefix,
  hash: keys[name].hash,
  scopes: ['serverless:read'],
  endpointIds: null,
  expiresAtMs: null,
  ...more,
});

const SNAPSHOTS = [
  snapshot('reader', {}),
  snapshot('writer', { scopes: ['serverless:write', 'serverless:read'] }),
  snapshot('expired', { expiresAtMs: 1 }),
];

const gate: { open: () => void; opened: Promise<void> } = { open: () => undefined, opened: Promise.resolve() };

@Controller('boxes')
@RequireScope('serverless:read')
class BoxesController {
  @Get()
  list(@Query() { limit }: PageDto) {
    return { limit };
  }

  @Post()
  @RequireScope('serverless:write')
  create(@Body() box: BoxDto, @CurrentCaller() caller: Caller) {
    return { box, accountId: caller.accountId };
  }

  @Post('raw')
  raw(@RawBody() text: string) {
    return { text };
  }

  @Get('slow')
  @Public()
  async slow() {
    await gate.opened;
    return { done: true };
  }

  @Get(':id')
  one(@Param('id') id: string) {
    if (id === 'broken') throw new TypeError('secret detail');
    if (id === 'busy') throw new PlatformError('service-unavailable', 'Not now.');
    throw new PlatformError('endpoint-not-found', `No box ${id}.`);
  }
}

@Module({
  controllers: [BoxesController],
  providers: [
    {
      provide: API_KEY_DIRECTORY,
      useValue: { find: async (prefix: string) => SNAPSHOTS.find((each) => each.prefix === prefix) ?? null },
    },
  ],
})
class BoxesModule {}

@Controller('open')
class ForgottenController {
  @Get()
  read() {
    return {};
  }
}

@Module({
  controllers: [ForgottenController],
  providers: [{ provide: API_KEY_DIRECTORY, useValue: { find: async () => null } }],
})
class ForgottenModule {}

const OPTIONS: HttpAppOptions = {
  logger: silentLogger,
  clock: systemClock,
  random: systemRandom,
  metrics: new MetricRegistry(),
  docsUrl: 'https://docs.test',
  credentialForm: 'bearer',
  renderingOf: () => managementRendering,
  bodyMaxBytes: (route) => (route === '/boxes/raw' ? 64 : 1024),
};

async function start(options: Partial<HttpAppOptions> = {}): Promise<{ app: HttpApp; url: string }> {
  const app = await createHttpApp(BoxesModule, { ...OPTIONS, ...options });
  const port = await app.listen('127.0.0.1', 0);
  return { app, url: `http://127.0.0.1:${port}` };
}

interface Call {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
}

async function call(url: string, { method, key, body, type = 'application/json' }: Call = {}) {
  const response = await fetch(url, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { ...(key === undefined ? {} : { authorization: key }), 'content-type': type },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) };
}

const reader = `Bearer ${keys.reader.key}`;
const writer = `Bearer ${keys.writer.key}`;

describe('a management application', () => {
  let app: HttpApp;
  let url: string;

  beforeAll(async () => {
    ({ app, url } = await start());
  });
  afterAll(() => app.drain(1_000));

  test('gives the handler the checked body and the caller', async () => {
    const answer = await call(`${url}/boxes`, { key: writer, body: '{"name":"a","size":{"height":2}}' });
    expect(answer).toMatchObject({
      status: 201,
      body: { box: { name: 'a', size: { height: 2 } }, accountId: 'acc-1' },
    });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
  });

  test.each([
    ['no header', undefined, 'missing bearer token', 'missing-api-key'],
    ['a bare key', keys.reader.key, 'malformed bearer token', 'invalid-api-key'],
    ['a key of another shape', 'Bearer abc', 'malformed bearer token', 'invalid-api-key'],
    ['an unknown key', `Bearer ${makeApiKey(systemRandom).key}`, 'invalid bearer token', 'invalid-api-key'],
    ['a known prefix with another secret', `${reader.slice(0, -1)}-`, 'malformed bearer token', 'invalid-api-key'],
    ['an expired key', `Bearer ${keys.expired.key}`, 'expired bearer token', 'invalid-api-key'],
  ])('answers 401 to %s', async (...[, key, detail, code]) => {
    const { status, body, headers } = await call(`${url}/boxes?limit=1`, { key });
    expect({ status, detail: body.detail, type: body.type }).toEqual({
      status: 401,
      detail,
      type: `https://docs.test/problems/${code}`,
    });
    expect(headers.get('content-type')).toContain('application/problem+json');
    expect(headers.get('www-authenticate')).toBe('Bearer');
  });

  test('answers 403 to a key without the scope, before it looks at the body', async () => {
    const { status, body } = await call(`${url}/boxes`, { key: reader, body: 'not json' });
    expect({ status, detail: body.detail }).toEqual({
      status: 403,
      detail: "access denied: The API key lacks the scope 'serverless:write'.",
    });
  });

  test.each([
    ['malformed JSON', '{"name":'],
    ['an empty body', ''],
    ['an array', '[]'],
    ['null', 'null'],
    ['bytes that are no text', new Uint8Array([0x22, 0xff, 0x22])],
  ])('answers 400 to %s', async (_, body) => {
    const answer = await call(`${url}/boxes`, { key: writer, body });
    expect(answer).toMatchObject({ status: 400, body: { status: 400, title: 'Body is not a JSON object' } });
  });

  test('lists every failure of a body, each by its path', async () => {
    const { status, body } = await call(`${url}/boxes`, {
      key: writer,
      body: '{"bogus":1,"size":{"height":"tall","depth":1}}',
    });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      "$: additional properties 'bogus' not allowed",
      "$.size: additional properties 'depth' not allowed",
      '$.name: is required',
      '$.size.height: must be an integer',
    ]);
  });

  test.each(['constructor', '__proto__', 'prototype'])('knows no field %s, at any depth', async (name) => {
    const { status, body } = await call(`${url}/boxes`, {
      key: writer,
      body: `{"name":"a","${name}":{},"size":{"height":1,"${name}":{"${name}":1}}}`,
    });
    expect({ status, errors: body.errors }).toEqual({
      status: 422,
      errors: [`$: additional properties '${name}' not allowed`, `$.size: additional properties '${name}' not allowed`],
    });
  });

  test('answers 400 to a query that fails its schema', async () => {
    const { status, body } = await call(`${url}/boxes?limit=many`, { key: reader });
    expect({ status, errors: body.errors }).toEqual({
      status: 400,
      errors: ['$.limit: must be a number'],
    });
  });

  test('answers 404 to an unknown path and 405 with Allow to a wrong method', async () => {
    expect(await call(`${url}/nothing`)).toMatchObject({ status: 404, body: { title: 'No such path' } });
    const wrong = await call(`${url}/boxes`, { method: 'DELETE', key: writer });
    expect(wrong.status).toBe(405);
    expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST');
  });

  test('answers 413 above the limit of the route and 415 to another content type', async () => {
    const long = `{"name":"${'x'.repeat(100)}"}`;
    expect(await call(`${url}/boxes/raw`, { key: reader, body: long })).toMatchObject({ status: 413 });
    expect(await call(`${url}/boxes`, { key: writer, body: 'a=b', type: 'text/plain' })).toMatchObject({
      status: 415,
      body: { detail: 'Send the body as application/json.' },
    });
  });

  test('hands on the text of a body as it came, and none where there is none', async () => {
    const text = '{ "n": 1.10, "n": 12345678901234567890 }';
    expect(await call(`${url}/boxes/raw`, { key: reader, body: text })).toMatchObject({ body: { text } });
    expect(await call(`${url}/boxes/raw`, { key: reader, method: 'POST' })).toMatchObject({
      status: 201,
      body: { text: '' },
    });
  });

  test('shows the detail of its own errors and nothing of others', async () => {
    expect(await call(`${url}/boxes/7`, { key: reader })).toMatchObject({ status: 404, body: { detail: 'No box 7.' } });
    const broken = await call(`${url}/boxes/broken`, { key: reader });
    expect(broken.status).toBe(500);
    expect(JSON.stringify(broken.body)).not.toContain('secret detail');
    const busy = await call(`${url}/boxes/busy`, { key: reader });
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([503, '2']);
  });

  test('answers 404 to an address that cannot be decoded', async () => {
    expect(await call(`${url}/boxes/%zz`, { key: reader })).toMatchObject({ status: 404 });
  });
});

test('job paths take the key without a scheme and answer errors without a status member', async () => {
  const { app, url } = await start({ credentialForm: 'bearer-or-bare', renderingOf: () => jobRendering });
  expect(await call(`${url}/boxes?limit=3`, { key: keys.reader.key })).toMatchObject({ status: 200 });
  const missing = await call(`${url}/boxes/7`, { key: reader });
  expect(missing.status).toBe(404);
  expect(missing.body).toEqual({
    type: 'https://docs.test/problems/endpoint-not-found',
    title: 'Endpoint not found',
    detail: 'No box 7.',
    error: 'No box 7.',
    instance: expect.stringMatching(/^req_/),
  });
  await app.drain(1_000);
});

test('a handler that does not say who may call it keeps the application from starting', async () => {
  await expect(createHttpApp(ForgottenModule, OPTIONS)).rejects.toThrow(
    'Handlers without @RequireScope or @Public: ForgottenController.read',
  );
});

test('a port that is taken is named with its variable', async () => {
  const { app, url } = await start();
  const other = await createHttpApp(BoxesModule, OPTIONS);
  const port = Number(new URL(url).port);
  await expect(other.listen('127.0.0.1', port)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is already in use. Set BERTH_HTTP_PORT to a free one.`,
  );
  await Promise.all([app.drain(1_000), other.drain(1_000)]);
});

test('draining lets a request in flight end', async () => {
  const { app, url } = await start();
  gate.opened = new Promise((resolve) => {
    gate.open = resolve;
  });
  const answer = call(`${url}/boxes/slow`);
  await call(`${url}/boxes?limit=1`, { key: reader });
  const drained = app.drain(10_000);
  gate.open();
  expect(await answer).toMatchObject({ status: 200, body: { done: true } });
  await drained;
});

test('a hook that refuses an answer that is ready answers its problem instead', async () => {
  const { app, url } = await start({
    configure: (fastify) => {
      fastify.addHook('onSend', async (request, reply, payload) => {
        if (reply.statusCode === 200 && request.url.startsWith('/boxes?')) {
          throw new PlatformError('service-unavailable', 'No room.', { retryAfterSeconds: 1 });
        }
        return payload;
      });
    },
  });
  const response = await fetch(`${url}/boxes?limit=1`, { headers: { authorization: `Bearer ${keys.reader.key}` } });
  expect(response.status).toBe(503);
  expect(response.headers.get('retry-after')).toBe('1');
  expect(await response.json()).toMatchObject({ title: 'Service unavailable', detail: 'No room.' });
  await app.drain(0);
});
