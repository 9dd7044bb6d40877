import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { faultOfAnswer, forwardAnswer, forwardInformation } from './forward-answer.js';
import { forwardRequest, type RequestToForward } from './forward-request.js';
import { forwardTrailers } from './forward-trailers.js';
import { faultOfHead, isHealthCheck, isPreflight } from './request-faults.js';

const REQUEST: RequestToForward = {
  ...{ method: 'GET', headers: ['Host', 'e.test'], framing: 'none', isUpgrade: false },
  peer: { address: '192.0.2.1', isTrusted: false, callerAddress: '192.0.2.1' },
  ...{ requestId: 'req_1', hidesAuthorization: true, traceparent: null },
};
const ANSWER = { status: 200, headers: [] as string[], workerId: 'w', requestId: 'req_1', mayHaveTrailers: true };

/** Values of one name in what goes on, in their order. */
const valuesIn = (flat: readonly string[], name: string): readonly string[] =>
  flat.filter((_, at) => at % 2 === 1 && flat[at - 1]?.toLowerCase() === name);

const HOP = [
  'Connection',
  'Keep-Alive',
  'Proxy-Authorization',
  'Proxy-Connection',
  'TE',
  'Transfer-Encoding',
  'Upgrade',
];
const token = fc.stringMatching(/^[a-z]{1,8}$/).map((word) => `x-own-${word}`);
const own = fc.array(fc.tuple(token, fc.stringMatching(/^[ -~]{0,10}$/)), { maxLength: 10 });
const hops = fc.array(fc.tuple(fc.constantFrom(...HOP), fc.constantFrom('x-hop', 'close', 'keep-alive')), {
  maxLength: 4,
});

describe('a request that goes on', () => {
  test('keeps what is its own in its order and spelling, and nothing of the connection that it came by', () => {
    fc.assert(
      fc.property(own, hops, (mine, theirs) => {
        const headers = ['Host', 'e.test', ...theirs.flat(), 'X-Hop', '1', ...mine.flat(), 'Connection', 'X-Hop'];
        const flat = forwardRequest({ ...REQUEST, headers });
        expect(flat.join('\n').startsWith(['Host', 'e.test', ...mine.flat()].join('\n'))).toBe(true);
        expect(valuesIn(flat, 'connection')).toEqual(['close']);
        for (const name of ['keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'upgrade', 'x-hop'])
          expect(valuesIn(flat, name)).toEqual([]);
        expect(valuesIn(flat, 'transfer-encoding')).toEqual([]);
      }),
    );
  });

  test('no Connection takes its host or its length away', () => {
    const headers = ['Host', 'e.test', 'Connection', 'host, content-length', 'Content-Length', '3'];
    const flat = forwardRequest({ ...REQUEST, headers, framing: 'length' });
    expect([valuesIn(flat, 'host'), valuesIn(flat, 'content-length')]).toEqual([['e.test'], ['3']]);
  });

  test.each([
    { method: 'GET', framing: 'none', lengths: [], codings: [] },
    { method: 'POST', framing: 'none', lengths: ['0'], codings: [] },
    { method: 'POST', framing: 'chunked', lengths: [], codings: ['chunked'] },
    { method: 'POST', framing: 'length', lengths: ['7'], codings: [] },
  ] as const)('$method with a body of $framing is framed once', ({ codings, framing, lengths, method }) => {
    const headers = ['Host', 'e.test', 'Content-Length', '7'];
    const flat = forwardRequest({ ...REQUEST, method, framing, headers });
    expect(valuesIn(flat, 'content-length')).toEqual(lengths);
    expect(valuesIn(flat, 'transfer-encoding')).toEqual(codings);
  });

  test('shows no key of ours, but the worker’s own from the header beside it', () => {
    const headers = ['Authorization', 'Bearer ours', 'X-Worker-Authorization', 'Bearer theirs'];
    expect(valuesIn(forwardRequest({ ...REQUEST, headers }), 'authorization')).toEqual(['Bearer theirs']);
    const alone = ['Authorization', 'Basic own'];
    expect(valuesIn(forwardRequest({ ...REQUEST, headers: alone }), 'authorization')).toEqual([]);
    expect(
      valuesIn(forwardRequest({ ...REQUEST, headers: alone, hidesAuthorization: false }), 'authorization'),
    ).toEqual(['Basic own']);
  });

  test('tells where it comes from by our word, or by that of a proxy that is trusted', () => {
    const headers = ['Host', 'e.test', 'X-Forwarded-For', '203.0.113.7', 'Forwarded', 'for=203.0.113.7'];
    expect(valuesIn(forwardRequest({ ...REQUEST, headers }), 'x-forwarded-for')).toEqual(['192.0.2.1']);
    const folded = ['Host', 'e.test', 'X_Forwarded_For', '203.0.113.7', 'x-request_id', 'mine'];
    expect(forwardRequest({ ...REQUEST, headers: folded }).join('\n')).not.toMatch(/_for|_id/i);
    const peer = { address: '2001:db8::1', isTrusted: true, callerAddress: '203.0.113.7' };
    const flat = forwardRequest({ ...REQUEST, headers, peer });
    expect(valuesIn(flat, 'x-forwarded-for')).toEqual(['203.0.113.7, 2001:db8::1']);
    expect(valuesIn(flat, 'x-real-ip')).toEqual(['203.0.113.7']);
    expect(valuesIn(flat, 'forwarded')).toEqual(['for=203.0.113.7, for="[2001:db8::1]";host=e.test;proto=http']);
  });

  test.each([
    ['e.test', 'http', '80'],
    ['e.test', 'https', '443'],
    ['e.test:8443', 'https', '8443'],
    ['[2001:db8::1]:81', 'http', '81'],
    ['[2001:db8::1]', 'http', '80'],
  ])('to %s by %s came to port %s', (host, proto, port) => {
    const headers = ['Host', host, 'X-Forwarded-Proto', proto];
    const peer = { ...REQUEST.peer, isTrusted: true };
    expect(valuesIn(forwardRequest({ ...REQUEST, headers, peer }), 'x-forwarded-port')).toEqual([port]);
    const told = [...headers, 'X-Forwarded-Port', '9'];
    expect(valuesIn(forwardRequest({ ...REQUEST, headers: told, peer }), 'x-forwarded-port')).toEqual(['9']);
  });

  test('has of what a proxy says of its caller nothing that the caller has made up, however it is spelled', () => {
    const names = [
      ...['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Port', 'X-Forwarded-Proto', 'X-Real-Ip'],
      ...['X-Forwarded-Prefix', 'X-Forwarded-Client-Cert', 'X-Client-IP', 'X-Cluster-Client-IP', 'True-Client-IP'],
      ...['CF-Connecting-IP', 'Fastly-Client-IP', 'X-Runpod-Worker-Id', 'X-Request-Id', 'Proxy', 'Tracestate'],
    ];
    const spelled = fc
      .tuple(fc.constantFrom(...names), fc.func(fc.boolean()), fc.func(fc.boolean()))
      .map(([name, isUpper, isFolded]) =>
        [...name]
          .map((char, at) =>
            char === '-' && isFolded(at) ? '_' : isUpper(at, 1) ? char.toUpperCase() : char.toLowerCase(),
          )
          .join(''),
      );
    const lies = fc.array(spelled, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(lies, own, fc.boolean(), (theirs, mine, isListed) => {
        const headers = ['Host', 'e.test', ...theirs.flatMap((name) => [name, 'made-up']), ...mine.flat()];
        if (isListed) headers.push('Connection', theirs.join(', '));
        expect(forwardRequest({ ...REQUEST, headers })).not.toContain('made-up');
        expect(forwardTrailers(theirs.flatMap((name) => [name, 'made-up']))).toEqual([]);
      }),
    );
  });

  test('has them from a proxy that is trusted, but for what we say and what nobody may', () => {
    const headers = ['X-Forwarded-Prefix', '/a', 'CF-Connecting-IP', '203.0.113.7', 'X_Forwarded_Prefix', '/b'];
    const peer = { ...REQUEST.peer, isTrusted: true };
    const flat = forwardRequest({ ...REQUEST, headers: [...headers, 'Proxy', 'p', 'X-Real-Ip', '6.6.6.6'], peer });
    expect(flat.slice(0, 4)).toEqual(headers.slice(0, 4));
    expect(flat.join(' ')).not.toMatch(/\/b|6\.6\.6\.6|proxy/i);
  });

  test('to a WebSocket asks for that alone; trailers are taken where their caller takes them', () => {
    const flat = forwardRequest({
      ...REQUEST,
      headers: ['Upgrade', 'websocket, h2c', 'TE', 'trailers'],
      isUpgrade: true,
    });
    expect([valuesIn(flat, 'upgrade'), valuesIn(flat, 'connection')]).toEqual([['websocket'], ['Upgrade']]);
    const plain = forwardRequest({ ...REQUEST, headers: ['TE', 'gzip, trailers'] });
    expect([valuesIn(plain, 'te'), valuesIn(plain, 'connection')]).toEqual([['trailers'], ['close, TE']]);
  });
});

test('what came behind a body goes on without what only a head may say, or only we', () => {
  const trailers = ['Authorization', 'a', 'host', 'b', 'X-Berth-Error', 'c', 'X_Forwarded_For', 'd', 'TE', 'e'];
  expect(forwardTrailers([...trailers, 'Server-Timing', 'db;dur=1', 'X-Runpod-Worker-Id', 'f'])).toEqual([
    'Server-Timing',
    'db;dur=1',
  ]);
});

describe('an answer that goes on', () => {
  test('names its worker by our word, and the request by its own where it has one', () => {
    const flat = forwardAnswer({
      ...ANSWER,
      headers: ['X-Runpod-Worker-Id', 'other', 'X-Berth-Error', 'x', 'X-Own', '1'],
    });
    expect(flat).toEqual(['X-Own', '1', 'X-Runpod-Worker-Id', 'w', 'X-Request-Id', 'req_1']);
    expect(valuesIn(forwardAnswer({ ...ANSWER, headers: ['x-request-id', 'own'] }), 'x-request-id')).toEqual(['own']);
  });

  test('has no length beside chunks, and no promise of trailers that cannot come', () => {
    const headers = ['Content-Length', '3', 'Transfer-Encoding', 'chunked', 'Trailer', 'X-T'];
    const flat = forwardAnswer({ ...ANSWER, headers, mayHaveTrailers: false });
    for (const name of ['content-length', 'transfer-encoding', 'trailer']) expect(valuesIn(flat, name)).toEqual([]);
    expect(valuesIn(forwardAnswer({ ...ANSWER, headers }), 'trailer')).toEqual(['X-T']);
  });
});

describe('an answer', () => {
  test.each([
    { status: 200, headers: ['Transfer-Encoding', 'chunked'], isUpgrade: false, fault: null },
    { status: 200, headers: ['Transfer-Encoding', 'gzip, chunked'], isUpgrade: false, fault: 'unknown-coding' },
    { status: 200, headers: Array.from({ length: 1_002 }, () => 'a'), isUpgrade: false, fault: 'too-many-headers' },
    { status: 101, headers: ['Upgrade', 'websocket'], isUpgrade: true, fault: null },
    { status: 101, headers: ['Upgrade', 'websocket'], isUpgrade: false, fault: 'unwanted-switch' },
    { status: 101, headers: ['Upgrade', 'h2c'], isUpgrade: true, fault: 'unwanted-switch' },
    { status: 101, headers: [], isUpgrade: true, fault: 'unwanted-switch' },
  ])('of $status with $headers is $fault', ({ fault, headers, isUpgrade, status }) => {
    expect(faultOfAnswer({ status, headers }, isUpgrade)).toBe(fault);
  });

  test.each([204, 101])('of %s has no length', (status) => {
    expect(valuesIn(forwardAnswer({ ...ANSWER, status, headers: ['Content-Length', '5'] }), 'content-length')).toEqual(
      [],
    );
  });

  test('is not spoken for before it is given', () => {
    const headers = ['Link', '</a>', 'Connection', 'X-Hop', 'X-Hop', '1', 'X-Berth-Error', 'x', 'Content-Length', '5'];
    expect(forwardInformation(headers)).toEqual(['Link', '</a>']);
  });
});

describe('the head of a request', () => {
  const headers = ['Host', 'e.test'];
  test.each([
    ['/', headers, null],
    ['*', headers, null],
    ['http://other/', headers, 'malformed-request'],
    ['/', [...headers, ...headers], 'malformed-request'],
    ['/', [], 'malformed-request'],
    ['/', [...headers, 'Transfer-Encoding', 'Chunked'], null],
    ['/', [...headers, 'Transfer-Encoding', 'gzip, chunked'], 'malformed-request'],
    ['/', [...headers, 'Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'identity'], 'malformed-request'],
    ['/', [...headers, 'Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'], 'malformed-request'],
    ['/', [...headers, ...Array.from({ length: 1_000 }, () => 'a')], 'headers-too-large'],
  ])('%s with these headers: %#', (url, given, code) => {
    expect(faultOfHead({ url, headers: given, httpVersion: '1.1' })?.code ?? null).toBe(code);
  });

  test.each([
    ['1.0', [], null],
    ['1.0', ['Transfer-Encoding', 'chunked'], 'malformed-request'],
    ['0.9', [], 'malformed-request'],
    ['2.0', [], 'malformed-request'],
  ])('of HTTP/%s with these headers: %#', (httpVersion, more, code) => {
    expect(faultOfHead({ url: '/', headers: [...headers, ...more], httpVersion })?.code ?? null).toBe(code);
  });

  test('a health check is known by its path, a preflight by what a browser asks', () => {
    const isCheck = (method: string, url: string): boolean => isHealthCheck({ method, url }, '/ping');
    expect([isCheck('GET', '/ping?x'), isCheck('HEAD', '/ping')]).toEqual([true, true]);
    expect([isCheck('GET', '/pings'), isCheck('POST', '/ping')]).toEqual([false, false]);
    const preflight = ['Origin', 'https://a', 'Access-Control-Request-Method', 'PUT'];
    expect(isPreflight('OPTIONS', preflight)).toBe(true);
    expect([isPreflight('GET', preflight), isPreflight('OPTIONS', preflight.slice(0, 2))]).toEqual([false, false]);
  });
});
