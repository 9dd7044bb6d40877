import { Controller, Get, Patch } from '@nestjs/common';
import { expect, test } from '@jest/globals';
import { RequireScope } from '../src/auth/access.decorator.js';
import { IfMatch } from '../src/conditional/if-match.decorator.js';
import { requireVersion, type VersionMatch } from '../src/conditional/version-tag.js';
import { VersionedAnswers } from '../src/conditional/versioned-answers.decorator.js';
import { VersionedAnswer } from '../src/conditional/versioned-answer.js';
import { useEdge } from './edge-bench.js';

@Controller('things')
@VersionedAnswers()
@RequireScope('serverless:read')
class ThingsController {
  @Get('7')
  read() {
    return new VersionedAnswer({ name: 'seven' }, 7);
  }

  @Patch('7')
  update(@IfMatch() expected: VersionMatch | null) {
    requireVersion(expected, 7);
    return new VersionedAnswer({ name: 'eight' }, 8);
  }
}

const bench = useEdge([ThingsController]);

test('a read says the version, and sends nothing to who has it', async () => {
  const full = await bench.call('GET /things/7');
  expect(full).toMatchObject({ status: 200, body: { name: 'seven' } });
  expect(full.headers.get('etag')).toBe('"7"');
  const known = await bench.call('GET /things/7', { headers: { 'if-none-match': 'W/"7"' } });
  expect(known).toMatchObject({ status: 304, text: '' });
  expect(known.headers.get('etag')).toBe('"7"');
  expect(await bench.call('HEAD /things/7', { headers: { 'if-none-match': '"7"' } })).toMatchObject({ status: 304 });
  expect(await bench.call('GET /things/7', { headers: { 'if-none-match': '"6"' } })).toMatchObject({ status: 200 });
});

test('a change of the version that was read goes through, and says the new one', async () => {
  for (const headers of [{}, { 'if-match': '"7"' }, { 'if-match': '*' }, { 'if-none-match': '"8"' }]) {
    const answer = await bench.call('PATCH /things/7', { headers, text: '{}' });
    expect(answer).toMatchObject({ status: 200, body: { name: 'eight' } });
    expect(answer.headers.get('etag')).toBe('"8"');
  }
});

test('a change of another version is 412 with the present tag', async () => {
  const answer = await bench.call('PATCH /things/7', { headers: { 'if-match': '"6"' }, text: '{}' });
  expect(answer).toMatchObject({ status: 412, body: { type: 'https://docs.test/problems/precondition-failed' } });
  expect(answer.headers.get('etag')).toBe('"7"');
});

test('a condition that cannot be read is 400', async () => {
  const answer = await bench.call('PATCH /things/7', { headers: { 'if-match': '7' }, text: '{}' });
  expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringContaining('If-Match') } });
});
