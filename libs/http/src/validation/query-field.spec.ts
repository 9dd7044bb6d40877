import 'reflect-metadata';
import { PlatformError } from '@berth/domain';
import { expect, test } from '@jest/globals';
import { ValidationPipe } from './validation.pipe.js';
import { QueryBooleanField, QueryIntegerField, QueryListField } from '@berth/contracts/http';

class QueryDto {
  @QueryListField({ isOptional: true, choices: ['A', 'B'], description: 'Choices.' })
  choices?: string[];

  @QueryListField({
    isOptional: true,
    pattern: /^\d+\.\d+$/,
    patternReason: 'must be major.minor',
    description: 'Versions.',
  })
  versions?: string[];

  @QueryIntegerField({ isOptional: true, minimum: 2, maximum: 9, description: 'Count.' })
  count?: number;

  @QueryBooleanField({ isOptional: true, description: 'Flag.' })
  flag?: boolean;
}

const pipe = new ValidationPipe();
const read = (query: Readonly<Record<string, unknown>>): unknown =>
  pipe.transform(query, { type: 'query', metatype: QueryDto });

test.each<[Readonly<Record<string, unknown>>, object]>([
  [{}, {}],
  [{ choices: 'A' }, { choices: ['A'] }],
  [{ choices: 'A,B' }, { choices: ['A', 'B'] }],
  [{ choices: ['A', 'B,A'] }, { choices: ['A', 'B', 'A'] }],
  [{ versions: '12.4,12.11' }, { versions: ['12.4', '12.11'] }],
  [{ count: '2' }, { count: 2 }],
  [{ flag: 'true' }, { flag: true }],
  [{ flag: 'false' }, { flag: false }],
])('%j is read as %j', (query, dto) => {
  expect({ ...(read(query) as object) }).toEqual(dto);
});

test.each<[Readonly<Record<string, unknown>>, string]>([
  [{ choices: 'C' }, '$.choices: item 0 must be one of A, B'],
  [{ choices: 'A,' }, '$.choices: item 1 must be one of A, B'],
  [{ choices: '' }, '$.choices: item 0 must be one of A, B'],
  [{ choices: { a: '1' } }, '$.choices: item 0 must be one of A, B'],
  [{ choices: 'A,'.repeat(64) + 'A' }, '$.choices: must have at most 64 items'],
  [{ versions: '12' }, '$.versions: item 0 must be major.minor'],
  [{ count: 'two' }, '$.count: must be an integer'],
  [{ count: '1.5' }, '$.count: must be an integer'],
  [{ count: ['2', '3'] }, '$.count: must be an integer'],
  [{ count: '1' }, '$.count: must not be less than 2'],
  [{ flag: 'yes' }, '$.flag: must be true or false'],
  [{ other: '1' }, "$: additional properties 'other' not allowed"],
])('%j is refused with %j', (query, reason) => {
  const refusal = (): unknown => read(query);
  expect(refusal).toThrow(PlatformError);
  expect(refusal).toThrow(expect.objectContaining({ code: 'invalid-query', errors: [reason] }));
});
