import { count, optional } from '@berth/domain/shape';
import { describe, expect, test } from '@jest/globals';
import { readAnswer } from './read-answer.js';

const read = (answer: string): unknown =>
  readAnswer<{ seq?: number }>({ seq: optional(count) }, new TextEncoder().encode(answer));

describe('an answer of the broker', () => {
  test.each([
    ['what was asked for', '{"seq":7,"stream":"S"}', { seq: 7, stream: 'S' }],
    ['nothing of it', '{}', {}],
    [
      'why not',
      '{"error":{"code":404,"err_code":10037,"description":"no message found"}}',
      { error: { code: 404, err_code: 10037, description: 'no message found' } },
    ],
    ['why not, in few words', '{"seq":0,"error":{"code":503}}', { error: { code: 503, err_code: 0, description: '' } }],
  ])('tells %s', (_what, answer, value) => {
    expect(read(answer)).toEqual({ kind: 'value', value });
  });

  test.each(['', 'null', '[]x', '{"seq":"7"}', '{"seq":-1}', '{"error":null}', '{"error":{"code":"no"}}'])(
    'is unreadable where it is %j',
    (answer) => {
      expect(read(answer)).toMatchObject({ kind: 'unreadable' });
    },
  );
});
