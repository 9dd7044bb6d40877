import type { Random } from '@berth/lifecycle';

/** W3C Trace Context, version 00. */
export interface TraceContext {
  /** 32 lower-case hex digits, not all zero. */
  readonly traceId: string;
  /** 16 lower-case hex digits, not all zero. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const PATTERN =
  /^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;

interface Fields {
  readonly version: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly flags: string;
  readonly more: string | undefined;
}

/** The lowest bit says whether the caller records the trace. */
const isOdd = (hex: string): boolean => Number.parseInt(hex, 16) % 2 === 1;

/** Null for a header that is missing or malformed: the specification says to start a new trace then. */
export function parseTraceparent(header: string | undefined): TraceContext | null {
  const match = PATTERN.exec(header ?? '');
  if (match === null) return null;
  const { version, traceId, spanId, flags, more } = match.groups as unknown as Fields;
  const isUnknownShape = version === 'ff' || (version === '00' && more !== undefined);
  if (isUnknownShape || isZero(traceId) || isZero(spanId)) return null;
  return { traceId, spanId, isSampled: isOdd(flags) };
}

export const formatTraceparent = ({ traceId, spanId, isSampled }: TraceContext): string =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;

export const startTrace = (random: Random): TraceContext => ({
  traceId: hex(random),
  spanId: newSpanId(random),
  isSampled: true,
});

/** A step of the same trace: what we send on after we have received `parent`. */
export const continueTrace = (parent: TraceContext, random: Random): TraceContext => ({
  ...parent,
  spanId: newSpanId(random),
});

const isZero = (digits: string): boolean => /^0+$/.test(digits);

const hex = (random: Random): string => random.uuid().replaceAll('-', '');

/** The second half of a UUID: its first digit is the variant, never zero. */
const newSpanId = (random: Random): string => hex(random).slice(16);
