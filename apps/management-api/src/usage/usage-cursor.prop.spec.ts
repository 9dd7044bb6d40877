import type { EndpointId } from '@berth/domain';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatUsageCursor, parseUsageCursor } from './usage-cursor.js';

const text = fc.string({ unit: 'binary', maxLength: 100 }).filter((each) => !/[\0\p{Cs}]/u.test(each));

const places = fc.record({
  atMs: fc.nat({ max: Date.UTC(3000) }),
  endpointId: fc.option(text.map((id) => id as EndpointId)),
  gpuTypeId: fc.option(text),
});

test('a cursor comes back as the place that it was made of, in letters that a URL takes', () => {
  fc.assert(
    fc.property(places, (place) => {
      const cursor = formatUsageCursor(place);
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(parseUsageCursor(cursor)).toEqual(place);
    }),
  );
});

test('what somebody made up is none, or a place that could be', () => {
  const made = fc.oneof(
    fc.string(),
    fc.json().map((json) => Buffer.from(json).toString('base64url')),
    fc.array(fc.anything()).map((place) => Buffer.from(JSON.stringify(place) ?? '').toString('base64url')),
  );
  fc.assert(
    fc.property(made, (cursor) => {
      const place = parseUsageCursor(cursor);
      if (place !== null) expect(formatUsageCursor(place)).toBe(cursor);
    }),
  );
});
