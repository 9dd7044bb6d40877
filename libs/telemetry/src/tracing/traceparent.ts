import {
  ROOT_CONTEXT,
  TraceFlags,
  defaultTextMapGetter,
  defaultTextMapSetter,
  trace,
  type SpanContext,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace-base';
import type { LogContext } from '../logging/log-context.js';

const ids = new RandomIdGenerator();
const propagator = new W3CTraceContextPropagator();

/**
 * The trace that a request's `traceparent` names, with its `tracestate`. Null where the header is missing or malformed: W3C
 * Trace Context says to start a new trace then.
 *
 * @param headers named in lower case
 */
export const readTrace = (headers: Readonly<Record<string, unknown>>): SpanContext | null =>
  trace.getSpanContext(propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter)) ?? null;

/** `readTrace` of that header alone. */
export const parseTraceparent = (header: string | undefined): SpanContext | null => readTrace({ traceparent: header });

/**
 * Of the flags only the one of version 00 goes on: whether the trace is recorded.
 *
 * @throws Error where the ids are not those of a trace
 */
export function formatTraceparent(span: SpanContext): string {
  const headers: Record<string, string> = {};
  const sent = { ...span, traceFlags: span.traceFlags & TraceFlags.SAMPLED };
  propagator.inject(trace.setSpanContext(ROOT_CONTEXT, sent), headers, defaultTextMapSetter);
  const { traceparent } = headers;
  if (traceparent === undefined) throw new Error(`no trace has the ids ${span.traceId} and ${span.spanId}`);
  return traceparent;
}

/**
 * Whether a trace that entered here is recorded. Nothing is parsed, as most are not: what we hand on has the flags of
 * version 00.
 */
export const isRecorded = (traceparent: string | null | undefined): boolean => traceparent?.endsWith('-01') === true;

/** For a line about what a trace belongs to; empty where there is none. */
export function loggedTrace(traceparent: string | null | undefined): Pick<LogContext, 'traceId'> {
  const trace = parseTraceparent(traceparent ?? undefined);
  return trace === null ? {} : { traceId: trace.traceId };
}

/** A step of the trace that `parent` belongs to, under its flags. */
export const continueTrace = (parent: SpanContext): SpanContext => ({
  traceId: parent.traceId,
  spanId: ids.generateSpanId(),
  traceFlags: parent.traceFlags,
  ...(parent.traceState === undefined ? {} : { traceState: parent.traceState }),
});

/** The first step of a trace. Where it is not recorded its ids serve the log alone. */
export const newTrace = (isRecorded: boolean): SpanContext => ({
  traceId: ids.generateTraceId(),
  spanId: ids.generateSpanId(),
  traceFlags: isRecorded ? TraceFlags.SAMPLED : TraceFlags.NONE,
});
