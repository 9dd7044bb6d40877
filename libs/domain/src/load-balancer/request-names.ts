import { pairsOf, valuesOf, type RawHeaders } from './header-pairs.js';

/** Ids that we make begin so: nobody else’s may look like one. */
const OUR_ID = /^req_/i;
const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._~:@+=-]{0,127}$/;

/** The id that a caller gave its request, where it may stand in answers and logs as it is; else null, and we make one. */
export const toldRequestId = (told: string | undefined): string | null =>
  told !== undefined && SANE_ID.test(told) && !OUR_ID.test(told) ? told : null;

const IDS = '-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}';
/** W3C Trace Context, 3.2.2: what later versions add stands behind. */
const TRACEPARENT = new RegExp(`^(?:00${IDS}|(?!00|ff)[0-9a-f]{2}${IDS}(?:-[ -~]*)?)$`);

const TRACE_ID_AT = 3;
const TRACE_ID_DIGITS = 32;

/** @param traceparent a sound one */
export const traceIdOf = (traceparent: string): string => traceparent.slice(TRACE_ID_AT, TRACE_ID_AT + TRACE_ID_DIGITS);

/** Ids of requests that we have made, and no caller. */
export const isOurRequestId = (id: string): boolean => OUR_ID.test(id);

/** The step of a trace that a request belongs to; null: none that can be read, so that its `tracestate` means nothing either. */
export function soundTraceparent(headers: RawHeaders): string | null {
  const [told, ...more] = valuesOf(pairsOf(headers), 'traceparent');
  return told !== undefined && more.length === 0 && TRACEPARENT.test(told) ? told : null;
}
