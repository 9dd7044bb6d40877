import 'reflect-metadata';
import { describe, expect, test } from '@jest/globals';
import { ValidationPipe } from './validation.pipe.js';
import { IntegerField } from '@berth/contracts/http';

class CountsDto {
  @IntegerField({ isOptional: true, minimum: 2, maximum: 9, description: 'Count.' })
  readonly plain?: number;

  @IntegerField({
    isOptional: true,
    isNullable: true,
    minimum: 2,
    maximum: 2 ** 40,
    reason: 'must be from 2 to so many',
    description: 'Count.',
  })
  readonly reasoned?: number | null;
}

const errorsOf = (body: object): readonly string[] | undefined => {
  try {
    new ValidationPipe().transform(JSON.stringify(body), { type: 'body', metatype: CountsDto });
    return [];
  } catch (error) {
    return (error as { errors?: readonly string[] }).errors;
  }
};

describe('an integer', () => {
  test.each([[{ plain: 2, reasoned: 2 }], [{ plain: 9, reasoned: 2 ** 40 }], [{ reasoned: null }], [{}]])(
    'may be %j',
    (body) => {
      expect(errorsOf(body)).toEqual([]);
    },
  );

  test.each([
    [1, 'must not be less than 2'],
    [10, 'must not be greater than 9'],
    [2.5, 'must be an integer'],
    ['2', 'must be an integer'],
    [null, 'must be an integer'],
  ])('that is %j is refused by what it misses', (plain, reason) => {
    expect(errorsOf({ plain })).toEqual([`$.plain: ${reason}`]);
  });

  test.each([1, 2 ** 40 + 1, 2.5, '2', [], true])('that is %j is refused with the field’s own reason', (reasoned) => {
    expect(errorsOf({ reasoned })).toEqual(['$.reasoned: must be from 2 to so many']);
  });
});
