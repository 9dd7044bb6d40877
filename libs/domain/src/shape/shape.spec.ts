import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  amount,
  bytes,
  count,
  flag,
  id,
  instant,
  integer,
  json,
  listOf,
  mapOf,
  matching,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  variantOf,
  type Shape,
} from './shape.js';

const answer = variantOf({ told: objectOf<{ text: string }>({ text: text(3) }), silent: () => null });

describe('a value that has not the shape is told by its place, and by what is right', () => {
  test.each<[Shape, unknown, string | null]>([
    [id, 'a.b', '$ must be an id'],
    [flag, 1, '$ must be true or false'],
    [count, -1, '$ must be a whole number from 0 on'],
    [instant, Number.NaN, '$ must be an instant in Unix milliseconds'],
    [amount(), '1', '$ must be a number from 0 on'],
    [amount(5), 5.1, '$ must be a number from 0 to 5'],
    [integer(1, 5), 2.5, '$ must be an integer from 1 to 5'],
    [matching('a version', /^\d+$/), 'x', '$ must be a version'],
    [text(3), 'abcd', '$ must be a text of at most 3 characters'],
    [bytes(3), 'aé', null],
    [bytes(3), 'éé', '$ must be a text of at most 3 bytes'],
    [json(9), '{', '$ must be a text of JSON'],
    [json(2), '[1]', '$ must be a text of at most 2 bytes'],
    [oneOf(['a', 'b']), 'c', '$ must be one of a, b'],
    [orNull(flag), null, null],
    [orNull(flag), undefined, '$ must be true or false'],
    [optional(flag), undefined, null],
    [optional(flag), null, '$ must be true or false'],
    [listOf(flag, 1), {}, '$ must be a list'],
    [listOf(flag, 1), [true, true], '$ must have at most 1 items'],
    [listOf(flag, 2, 1), [], '$ must have at least 1 items'],
    [listOf(flag, 2), [true, 1], '$[1] must be true or false'],
    [mapOf(flag, 1), [], '$ must be an object'],
    [mapOf(flag, 1), { a: true, b: true }, '$ must have at most 1 members'],
    [mapOf(flag, 1), { secret: 1 }, '$.* must be true or false'],
    [objectOf({ a: objectOf({ b: flag }) }), { a: {} }, '$.a.b must be true or false'],
    [objectOf({ a: flag }), { a: true, later: 1 }, null],
    [answer, { kind: 'toString' }, '$.kind must be one of told, silent'],
    [answer, { kind: 'told', text: 'abcd' }, '$.text must be a text of at most 3 characters'],
    [answer, { kind: 'silent' }, null],
  ])('%#', (shape, value, fault) => {
    expect(shape(value, '$')).toBe(fault);
  });

  test('and never by what stood there, whatever it is', () => {
    const shape = objectOf({ list: listOf(answer, 4), map: mapOf(id, 4), size: amount(), word: oneOf(['a', 'b']) });
    const close = fc.record({
      list: fc.array(
        fc.oneof(fc.jsonValue(), fc.record({ kind: fc.constantFrom('told', 'silent'), text: fc.string() })),
      ),
      ...{ map: fc.dictionary(fc.string(), fc.jsonValue()), size: fc.double(), word: fc.constantFrom('a', 'b', 'c') },
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), close), (value) => {
        expect(shape(value, '$') ?? '$ must be').toMatch(
          /^\$[a-z.*[\]0-9]* must (be|have at most 4)( (an id|an object|a list|a number from 0 on|a text of at most 3 characters|one of (a, b|told, silent)|items|members))?$/,
        );
      }),
    );
  });
});
