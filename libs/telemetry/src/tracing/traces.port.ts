import type { SpanContext } from '@opentelemetry/api';

export type SpanKind = 'server' | 'client' | 'producer' | 'consumer' | 'internal';

/** Values of attributes, by names of the semantic conventions where those have one. Never a text of a caller or worker. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** What a step was, told when it is over. */
export interface StepFacts {
  readonly name: string;
  /** `internal` unless said. */
  readonly kind?: SpanKind;
  readonly attributes?: SpanAttributes;
  /** Word for what went wrong, of a few that there are; null or absent: nothing did. */
  readonly error?: string | null;
  /** How long ago it was over, in ms; now unless said. */
  readonly agoMs?: number;
}

/** A step of a trace, told whole when it is over. Its ids are known before, for what it causes. */
export interface Span extends Omit<StepFacts, 'agoMs'> {
  readonly context: SpanContext;
  readonly parentSpanId: string | null;
  /** Unix ms, with fractions. */
  readonly startMs: number;
  readonly endMs: number;
}

/** A step that has begun. One that nobody ends is lost, and nothing else is. */
export interface Step {
  /** For what the step causes. */
  readonly traceparent: string;
  /** Once; a second word counts nothing. */
  end(facts: StepFacts): void;
}

/** The place of a request in a trace. */
export interface TracePlace {
  readonly context: SpanContext;
  /** Null: the request is not recorded. */
  readonly step: Step | null;
}

export interface EnterOptions {
  /** Whether it came with a good key: wishes of strangers to be recorded are counted apart. */
  readonly hasKey: boolean;
  /** How long ago it came, in ms; now unless said. */
  readonly agoMs?: number;
}

export interface StepOptions {
  /** How long ago it began, in ms; now unless said. */
  readonly agoMs?: number;
  /** Names the step within its trace, so that whoever tells of it once more means the same one. Chance unless given. */
  readonly name?: string;
}

/**
 * The steps of this process in the traces of requests and jobs. Recording never waits, never throws, and costs nothing
 * where it is off.
 */
export interface Traces {
  /** False: no step is ever recorded. */
  readonly isOn: boolean;
  /**
   * The place of a request from outside: in its caller's trace, or in a new one. Once for each, when it is known who asks.
   *
   * @param headers named in lower case
   */
  enter(headers: Readonly<Record<string, unknown>>, options: EnterOptions): TracePlace;
  /** Begins a step below the one that a `traceparent` names. Null: that trace is not recorded. */
  step(traceparent: string | null | undefined, options?: StepOptions): Step | null;
  /**
   * The same for a trace that is recorded although nobody had meant to: that of a job that failed. Null where
   * recording is off, or that is no trace.
   */
  afterwards(traceparent: string | null | undefined, options?: StepOptions): Step | null;
}
