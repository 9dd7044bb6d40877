import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ACCOUNT_LIMITS } from '@berth/domain';
import { expect, test } from '@jest/globals';

const PAGE = resolve(import.meta.dirname, '../../../../docs/problems/limit-reached.md');
const UNITS = { MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;
const ROW = /^\| `(\w+)` +\|[^|]+\| ([\d,]+)(?: (MiB|GiB))? +\|$/gm;

/** What the table says of each limit's default. */
const defaults = [...readFileSync(PAGE, 'utf8').matchAll(ROW)].map(([, name, number = '', unit]) => [
  name,
  Number(number.replaceAll(',', '')) * (unit === undefined ? 1 : UNITS[unit as keyof typeof UNITS]),
]);

test('the page of limit-reached has every limit of an account with its default, in their order', () => {
  expect(defaults).toEqual(Object.entries(ACCOUNT_LIMITS).map(([name, limit]) => [name, limit.default]));
});
