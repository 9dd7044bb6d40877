import { expect, test } from '@jest/globals';
import { continueTrace, formatTraceparent, isRecorded, newTrace, parseTraceparent, readTrace } from './traceparent.js';

const GIVEN = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

test('a trace is continued under the same id with a step of its own', () => {
  const parent = parseTraceparent(GIVEN);
  if (parent === null) throw new Error('not parsed');
  expect(formatTraceparent(parent)).toBe(GIVEN);
  const next = continueTrace(parent);
  expect(next.traceId).toBe(parent.traceId);
  expect(next.spanId).not.toBe(parent.spanId);
});

test('what is started here can be read there', () => {
  const trace = newTrace(true);
  expect(parseTraceparent(formatTraceparent(trace))).toMatchObject(trace);
  expect([trace, newTrace(false)].map((each) => isRecorded(formatTraceparent(each)))).toEqual([true, false]);
});

test('a later version with more fields is read, the unsampled flag is kept', () => {
  expect(parseTraceparent(`${GIVEN.replace('00-4', '01-4')}-more`)).not.toBeNull();
  expect(parseTraceparent(GIVEN.replace(/01$/, '00'))).toMatchObject({ traceFlags: 0 });
});

test('of the flags only the sampled one is sent on', () => {
  const parent = parseTraceparent(GIVEN.replace(/01$/, 'ff'));
  expect(parent).toMatchObject({ traceFlags: 0xff });
  if (parent !== null) expect(formatTraceparent(parent)).toBe(GIVEN);
});

test('the next step keeps the state that other systems gave the trace', () => {
  const given = readTrace({ traceparent: GIVEN, tracestate: 'congo=t61rcWkgMzE,rojo=00f067aa0ba902b7' });
  if (given === null) throw new Error('not read');
  expect(continueTrace(given).traceState?.serialize()).toBe('congo=t61rcWkgMzE,rojo=00f067aa0ba902b7');
});

test.each([
  [undefined],
  [''],
  ['00-abc'],
  [GIVEN.toUpperCase()],
  [`${GIVEN}-more`],
  [GIVEN.replace('00-4', 'ff-4')],
  [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
  [`00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
])('%s is no trace', (header) => {
  expect(parseTraceparent(header)).toBeNull();
});
