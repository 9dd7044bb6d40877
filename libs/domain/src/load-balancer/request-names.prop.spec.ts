import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forwardRequest } from './forward-request.js';
import { toldRequestId, soundTraceparent } from './request-names.js';

const hex = (length: number): fc.Arbitrary<string> => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`));
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

const passed = (headers: readonly string[], traceparent: string | null = null): readonly string[] =>
  forwardRequest({
    ...{ method: 'GET', headers, framing: 'none', isUpgrade: false, requestId: 'r', hidesAuthorization: true },
    traceparent,
    peer: { address: '192.0.2.1', isTrusted: false, callerAddress: '192.0.2.1' },
  });

describe('a trace', () => {
  test('that can be read goes on as it came, with its state', () => {
    fc.assert(
      fc.property(hex(32), hex(16), hex(2), (trace, span, flags) => {
        fc.pre(!/^0+$/.test(trace) && !/^0+$/.test(span));
        const headers = ['Traceparent', `00-${trace}-${span}-${flags}`, 'tracestate', 'a=1,b=2', 'TraceState', 'c=3'];
        expect(soundTraceparent(headers)).toBe(headers[1]);
        expect(passed(headers).slice(0, 6)).toEqual(headers);
      }),
    );
  });

  test.each([
    ['none', undefined],
    ['no trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['no step', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a version that is none', `ff-${TRACE}-${SPAN}-01`],
    ['capitals', `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ['more than its version has', `00-${TRACE}-${SPAN}-01-x`],
    ['two in one', `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
  ])('of %s does not go on, nor does its state, and none is made', (_, traceparent) => {
    const headers = [...(traceparent === undefined ? [] : ['traceparent', traceparent]), 'tracestate', 'a=1'];
    expect(soundTraceparent(headers)).toBeNull();
    expect(passed(headers).join('\n')).not.toMatch(/trace/i);
  });

  test('that is recorded goes on as the step that we record, with what others say of that trace and of no other', () => {
    const ours = `00-${TRACE}-${'a'.repeat(16)}-01`;
    const state = ['tracestate', 'a=1'];
    const names = (flat: readonly string[]) => flat.filter((_, at) => /^trace/i.test(flat[at - (at % 2)] ?? ''));
    expect(names(passed(['Traceparent', `00-${TRACE}-${SPAN}-01`, ...state], ours))).toEqual([
      ...state,
      'traceparent',
      ours,
    ]);
    expect(names(passed(['traceparent', `00-${'b'.repeat(32)}-${SPAN}-01`, ...state], ours))).toEqual([
      'traceparent',
      ours,
    ]);
    expect(names(passed(state, ours))).toEqual(['traceparent', ours]);
  });

  test('of a later version may have more; one that is said twice is none', () => {
    const later = `cc-${TRACE}-${SPAN}-01-what-will-be`;
    expect(soundTraceparent(['traceparent', later])).toBe(later);
    expect(soundTraceparent(['traceparent', later, 'traceparent', later])).toBeNull();
  });
});

describe('the id that a caller gives its request', () => {
  test.each(['a', '4bf92f35-77b3-4da6-a3ce-929d0e0e4736', 'Root=1-67891233-abcdef012345678912345678', 'x'.repeat(128)])(
    '%s is taken',
    (id) => {
      expect(toldRequestId(id)).toBe(id);
    },
  );

  test.each([undefined, '', ' ', 'req_1', 'REQ_1', 'a b', 'a, b', 'a"b', 'a\u001b[31m', '-a', 'ä', 'x'.repeat(129)])(
    '%j is not',
    (id) => {
      expect(toldRequestId(id)).toBeNull();
    },
  );
});
