import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readEvents } from '../../test/bench/read-events.js';
import { PING, encodeEvent, encodeRetry, type ServerEvent } from '@berth/http';

const word = fc.stringMatching(/^[a-z0-9-]{1,12}$/);
const event: fc.Arbitrary<ServerEvent> = fc.record(
  { event: word, id: word, data: fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[\r\n: a]{0,20}$/)) },
  { requiredKeys: ['data'] },
);
const normal = (text: string): string => text.replaceAll(/\r\n|\r/g, '\n');

describe('server-sent events', () => {
  test('are read as they were written, wherever the bytes are cut', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.array(fc.nat(400), { maxLength: 6 }), (events, cuts) => {
        const bytes = Buffer.from(encodeRetry(5) + events.map((each) => PING + encodeEvent(each)).join(''));
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, n) => bytes.subarray(places[n], end));
        const expected = events.map(({ data, event: name = 'message', id }) => ({
          data: normal(data),
          event: name,
          id,
        }));
        let last = '';
        const ids = expected.map(({ id }) => (last = id ?? last));
        expect(readEvents(pieces)).toEqual(expected.map((each, n) => ({ ...each, id: ids[n] })));
      }),
    );
  });
});
