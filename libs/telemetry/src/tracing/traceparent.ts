import { TraceFlags, type SpanContext } from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace-base';

const ids = new RandomIdGenerator();

/** Null for a `traceparent` that is missing or malformed: W3C Trace Context says to start a new trace then. */
export const parseTraceparent = (header: string | undefined): SpanContext | null =>
  header === undefined ? null : parseTraceParent(header);

/** Of the flags only the one of version 00 goes on: whether the trace is recorded. */
export const formatTraceparent = ({ spanId, traceFlags, traceId }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;

/** A step of the trace that `parent` belongs to, or the first of a new one: what we send on. */
export const continueTrace = (parent: SpanContext | null): SpanContext => ({
  traceId: parent?.traceId ?? ids.generateTraceId(),
  spanId: ids.generateSpanId(),
  traceFlags: parent?.traceFlags ?? TraceFlags.SAMPLED,
});
