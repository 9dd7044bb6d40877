import { describe, expect, test } from '@jest/globals';
import { POSTED_OUTPUT_MAX_BYTES, readOversized, readPostedResult } from './posted-result.js';

const completed = (output: string | null) => ({ kind: 'completed', output });
const failed = (error: string, output: string | null = null) => ({ kind: 'failed', error, output });

describe('what a worker posted as a result', () => {
  test.each([
    ['{"output": {"a" : 1.50}}', completed('{"a" : 1.50}')],
    ['{"output":"text"}', completed('"text"')],
    ['{}', completed(null)],
    ['{"output":null}', completed('null')],
    ['{"output":false}', completed('false')],
    ['{"output":[]}', completed('[]')],
    ['{"output":"x","error":""}', completed('"x"')],
    ['{"output":"x","error":null}', completed('"x"')],
    ['{"output":"x","error":{}}', completed('"x"')],
    ['{"error":"broken"}', failed('broken')],
    ['{"output":{"rest":1},"error":"broken"}', failed('broken', '{"rest":1}')],
    ['{"error":{"code": 42}}', failed('{"code": 42}')],
    ['{"error":["a"]}', failed('["a"]')],
    ['{"error":7}', failed('7')],
    ['{"error":true}', failed('true')],
    ['{"output":NaN}', completed('null')],
    ['{"output":[1,-Infinity,"Infinity"]}', completed('[1,null,"Infinity"]')],
    ['', failed('the worker posted a result that is not JSON')],
    ['output=1', failed('the worker posted a result that is not JSON')],
    ['[1]', failed('the worker posted a result that is not a JSON object')],
    ['null', failed('the worker posted a result that is not a JSON object')],
  ])('%s', (text, ending) => {
    expect(readPostedResult(text)).toEqual({ kind: 'result', ending, wantsRecycle: false });
  });

  test('progress is told from a result by its status', () => {
    expect(readPostedResult('{"status":"IN_PROGRESS","output":{"step": 1}}')).toEqual({
      kind: 'progress',
      output: '{"step": 1}',
    });
    expect(readPostedResult('{"status":"IN_PROGRESS"}')).toEqual({ kind: 'progress', output: 'null' });
    expect(readPostedResult('{"status":"COMPLETED","output":1}')).toMatchObject({ kind: 'result' });
  });

  test.each([
    ['{"output":1,"stopPod":true}', true],
    ['{"error":"x","stopPod":true}', true],
    ['{"output":1,"stopPod":false}', false],
  ])('%s asks for a replacement: %s', (text, wantsRecycle) => {
    expect(readPostedResult(text)).toMatchObject({ wantsRecycle });
  });

  test('an output at the limit is kept, one byte more fails the job in words', () => {
    const text = (bytes: number): string => `{"output":"${'x'.repeat(bytes - 2)}"}`;
    expect(readPostedResult(text(POSTED_OUTPUT_MAX_BYTES))).toMatchObject({ ending: { kind: 'completed' } });
    const error = 'the output is too large: 20971521 bytes, at most 20971520 are allowed';
    expect(readPostedResult(text(POSTED_OUTPUT_MAX_BYTES + 1))).toMatchObject({ ending: failed(error) });
    expect(readOversized(99_000_000)).toMatchObject({ ending: { kind: 'failed', output: null } });
  });

  test('an endless error is cut', () => {
    const { ending } = readPostedResult(JSON.stringify({ error: 'e'.repeat(200_000) })) as unknown as {
      ending: { error: string };
    };
    expect(ending.error.length).toBeLessThan(70_000);
    expect(ending.error).toMatch(/\(200000 characters in all\)$/);
  });
});

test('an error is cut where its JSON text would be longer than 64 KiB', () => {
  const posted = readPostedResult(JSON.stringify({ error: '\u0001'.repeat(50_000) }));
  const error = posted.kind === 'result' && posted.ending.kind === 'failed' ? posted.ending.error : '';
  expect(error).toBe(`${'\u0001'.repeat(10_922)}… (50000 characters in all)`);
});
