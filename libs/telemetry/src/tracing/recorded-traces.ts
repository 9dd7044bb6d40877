import { createHash } from 'node:crypto';
import { TraceFlags, type SpanContext } from '@opentelemetry/api';
import type { Clock, Random } from '@berth/lifecycle';
import { Sampling } from './sampling.js';
import { continueTrace, formatTraceparent, isRecorded, newTrace, parseTraceparent, readTrace } from './traceparent.js';
import type { EnterOptions, Span, Step, StepFacts, StepOptions, TracePlace, Traces } from './traces.port.js';

export interface RecordedTracesOptions {
  /** Takes what is over. Never throws, never waits. */
  readonly sink: (span: Span) => void;
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>;
  readonly random: Pick<Random, 'fraction'>;
  readonly permille: number;
}

/** The process that a trace enters by decides whether it is recorded; the others go by its flag. */
export class RecordedTraces implements Traces {
  readonly isOn = true;
  readonly #options: RecordedTracesOptions;
  readonly #sampling: Sampling;

  constructor(options: RecordedTracesOptions) {
    this.#options = options;
    this.#sampling = new Sampling(options);
  }

  enter(headers: Readonly<Record<string, unknown>>, { agoMs = 0, hasKey }: EnterOptions): TracePlace {
    const parent = readTrace(headers);
    if (!this.#sampling.isRecorded(parent, hasKey)) {
      return { context: parent === null ? newTrace(false) : { ...parent, traceFlags: TraceFlags.NONE }, step: null };
    }
    const context = parent === null ? newTrace(true) : continueTrace(parent);
    return { context, step: this.#begin(context, parent?.spanId ?? null, agoMs) };
  }

  step(traceparent: string | null | undefined, options: StepOptions = {}): Step | null {
    if (!isRecorded(traceparent)) return null;
    return this.afterwards(traceparent, options);
  }

  afterwards(traceparent: string | null | undefined, { agoMs = 0, name }: StepOptions = {}): Step | null {
    const parent = parseTraceparent(traceparent ?? undefined);
    if (parent === null) return null;
    const next = continueTrace({ ...parent, traceFlags: TraceFlags.SAMPLED });
    const context = name === undefined ? next : { ...next, spanId: spanIdOf(parent.traceId, name) };
    return this.#begin(context, parent.spanId, agoMs);
  }

  #begin(context: SpanContext, parentSpanId: string | null, agoMs: number): Step {
    const { clock, sink } = this.#options;
    const startMs = clock.nowMs() - agoMs;
    const startedAtMs = clock.monotonicMs() - agoMs;
    let isOver = false;
    return {
      traceparent: formatTraceparent(context),
      end: ({ agoMs: endedAgoMs = 0, ...facts }: StepFacts) => {
        if (isOver) return;
        isOver = true;
        const tookMs = Math.max(0, clock.monotonicMs() - endedAgoMs - startedAtMs);
        sink({ ...facts, context, parentSpanId, startMs, endMs: startMs + tookMs });
      },
    };
  }
}

const SPAN_ID_DIGITS = 16;

function spanIdOf(traceId: string, name: string): string {
  const digits = createHash('sha256').update(`${traceId} ${name}`).digest('hex').slice(0, SPAN_ID_DIGITS);
  // All zeros is no id.
  return /[^0]/.test(digits) ? digits : digits.replace(/0$/, '1');
}
