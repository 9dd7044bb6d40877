import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fieldChanges } from './field-changes.js';
import { isSecretName } from './secret-name.js';

describe('what differs between two bodies', () => {
  test('is told field by field, objects by their members, lists as a whole', () => {
    const before = { name: 'a', gpu: { count: 1, pools: ['ADA_24'] }, cpu: null, env: { A: '1', B: '2' } };
    const after = { name: 'a', gpu: { count: 2, pools: ['ADA_24', 'AMPERE_24'] }, env: { B: '2', C: '3' }, disk: 5 };
    expect(fieldChanges(before, after)).toEqual([
      { field: 'disk', old: null, new: 5 },
      { field: 'env.A', old: '1', new: null },
      { field: 'env.C', old: null, new: '3' },
      { field: 'gpu.count', old: 1, new: 2 },
      { field: 'gpu.pools', old: ['ADA_24'], new: ['ADA_24', 'AMPERE_24'] },
    ]);
  });

  test('of what is new or gone is every field that has a value', () => {
    const body = { name: 'a', gpu: { count: 1 }, registry: null };
    expect(fieldChanges({}, body).map(({ field }) => field)).toEqual(['gpu.count', 'name']);
    expect(fieldChanges(body, {})).toContainEqual({ field: 'gpu.count', old: 1, new: null });
  });

  test('never shows a secret, and still says that it changed', () => {
    expect(fieldChanges({ env: { DB_PASSWORD: 'old' } }, { env: { DB_PASSWORD: 'new', API_KEY: 'k' } })).toEqual([
      { field: 'env.API_KEY', old: null, new: '***' },
      { field: 'env.DB_PASSWORD', old: '***', new: '***' },
    ]);
  });

  test('is nothing between equals', () => {
    const body = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(body, (fields) => {
        expect(fieldChanges(fields, JSON.parse(JSON.stringify(fields)) as typeof fields)).toEqual([]);
      }),
    );
  });
});

test.each([
  'HF_TOKEN',
  'AWS_SECRET_ACCESS_KEY',
  'DB_PASSWORD',
  'passwd',
  'apiKey',
  'OPENAI_API_KEY',
  'KEY',
  'private_pem',
])('%s names a secret', (name) => {
  expect(isSecretName(name)).toBe(true);
});

test.each(['MODEL', 'KEYBOARD', 'MAX_LENGTH', 'image', 'MONKEY'])('%s does not', (name) => {
  expect(isSecretName(name)).toBe(false);
});
