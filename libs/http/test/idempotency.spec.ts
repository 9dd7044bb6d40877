import { Body, Controller, Post } from '@nestjs/common';
import { PlatformError } from '@berth/domain';
import { beforeEach, expect, test } from '@jest/globals';
import { RequireScope } from '../src/auth/access.decorator.js';
import { VersionedAnswers } from '../src/conditional/versioned-answers.decorator.js';
import { VersionedAnswer } from '../src/conditional/versioned-answer.js';
import type { IdempotencyLedger, IdempotentRequest, KeptAnswer } from '../src/idempotency/idempotency-ledger.port.js';
import { Idempotent } from '../src/idempotency/idempotent.decorator.js';
import { NameField } from '@berth/contracts/http';
import { useEdge } from './edge-bench.js';

class ThingDto {
  @NameField({ description: 'Name.' })
  name!: string;
}

const made: string[] = [];

@Controller('things')
@VersionedAnswers()
@RequireScope('serverless:write')
class ThingsController {
  @Post()
  @Idempotent()
  create(@Body() { name }: ThingDto) {
    if (name === 'refused') throw new PlatformError('rule-conflict', 'No.');
    made.push(name);
    return new VersionedAnswer({ id: made.length, name, secret: '€' }, 1);
  }

  @Post('each')
  createEach(@Body() { name }: ThingDto) {
    made.push(name);
    return {};
  }
}

/** Keeps answers as the real one does, apart from all that makes it safe. */
class MemoryLedger implements IdempotencyLedger {
  readonly kept = new Map<string, { readonly hash: string; readonly answer: KeptAnswer }>();

  async once({ accountId, hash, key, route }: IdempotentRequest, answer: () => Promise<KeptAnswer>) {
    const name = `${accountId} ${route} ${key}`;
    const kept = this.kept.get(name);
    if (kept === undefined) {
      const given = await answer();
      this.kept.set(name, { hash, answer: given });
      return { answer: given, isReplayed: false };
    }
    if (kept.hash !== hash) throw new PlatformError('idempotency-key-reused', 'Another body.');
    return { answer: kept.answer, isReplayed: true };
  }
}

const ledger = new MemoryLedger();
const bench = useEdge([ThingsController], { options: { idempotency: ledger } });

beforeEach(() => {
  made.length = 0;
  ledger.kept.clear();
});

const create = (key: string, text = '{"name":"a"}') =>
  bench.call('POST /things', { text, headers: { 'idempotency-key': key } });

test('the same request with the same key is answered as the first time', async () => {
  const first = await create('k');
  const second = await create('k', '{ "name": "a" }');
  expect(first).toMatchObject({ status: 201, text: '{"id":1,"name":"a","secret":"€"}' });
  expect(second).toMatchObject({ status: 201, text: first.text });
  expect([first, second].map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true']);
  for (const name of ['content-type', 'etag']) expect(second.headers.get(name)).toBe(first.headers.get(name));
  expect(first.headers.get('etag')).toBe('"1"');
  expect(made).toEqual(['a']);
});

test('another key, another account or another path is another request', async () => {
  await create('k');
  expect((await create('l')).body).toMatchObject({ id: 2 });
  const key = bench.newKey(['serverless:write'], 'a2');
  const other = { text: '{"name":"a"}', headers: { 'idempotency-key': 'k' }, key };
  expect((await bench.call('POST /things', other)).body).toMatchObject({ id: 3 });
});

test('another body under the same key is 409', async () => {
  await create('k');
  const answer = await create('k', '{"name":"b"}');
  expect(answer).toMatchObject({
    status: 409,
    body: { type: 'https://docs.test/problems/idempotency-key-reused' },
  });
});

test.each([
  ['a rule refuses', '{"name":"refused"}', 400],
  ['the schema refuses', '{"name":1}', 422],
  ['is no JSON', '{"name"', 400],
  ['is nested too deep', `${'['.repeat(10_000)}${']'.repeat(10_000)}`, 400],
])('a body that %s leaves no trace', async (_, text, status) => {
  expect(await create('k', text)).toMatchObject({ status });
  expect(await create('k')).toMatchObject({ status: 201 });
});

test.each(['', 'a b', 'x'.repeat(256)])('a key that is none (%#) is 400', async (key) => {
  expect(await create(key)).toMatchObject({
    status: 400,
    body: { type: 'https://docs.test/problems/invalid-header', detail: expect.stringContaining('Idempotency-Key') },
  });
});

test('without a key, and where nothing is declared, each request counts', async () => {
  await bench.call('POST /things', { text: '{"name":"a"}' });
  await bench.call('POST /things', { text: '{"name":"a"}' });
  const each = { text: '{"name":"a"}', headers: { 'idempotency-key': 'k' } };
  await bench.call('POST /things/each', each);
  await bench.call('POST /things/each', each);
  expect(made).toHaveLength(4);
});
