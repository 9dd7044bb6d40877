import { ROOT_CONTEXT, SpanKind as Kind, SpanStatusCode, TraceFlags, trace, type Tracer } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK } from '@opentelemetry/sdk-node';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  type IdGenerator,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '../logging/logger.js';
import type { SpanMetrics } from './metrics.js';
import type { Span, SpanKind } from './traces.port.js';

export interface OtlpSpansOptions {
  /** Of the collector; spans go to `/v1/traces` below it. */
  readonly endpoint: string;
  /** The process as people call it: `job-router`. */
  readonly process: string;
  /** This one among all of its kind; null: nobody has named it. */
  readonly instance: string | null;
  readonly metrics: SpanMetrics;
  readonly logger: Logger;
  /** How long the collector has for a batch, and for all that waits at a stop, in ms; 5 s unless given. */
  readonly sendWithinMs?: number;
}

/** Spans that wait for the collector; what comes beyond is dropped and counted. */
const WAITING_MAX = 2_048;
const BATCH_MAX = 512;
const SEND_EVERY_MS = 1_000;
const SEND_WITHIN_MS = 5_000;
/** Of a text, so that no attribute grows with what somebody sent. */
const TEXT_MAX_CHARACTERS = 256;

const KINDS: Readonly<Record<SpanKind, Kind>> = {
  server: Kind.SERVER,
  client: Kind.CLIENT,
  producer: Kind.PRODUCER,
  consumer: Kind.CONSUMER,
  internal: Kind.INTERNAL,
};

/** The OpenTelemetry SDK behind our spans, which come whole: their ids and their times are made before it sees them. */
export class OtlpSpans {
  readonly #exporter: CountedExporter;
  readonly #ids = new GivenIds();
  readonly #options: OtlpSpansOptions;
  readonly #sdk: NodeSDK;
  readonly #tracer: Tracer;
  #isClosing = false;

  constructor(options: OtlpSpansOptions) {
    const { endpoint, instance, process, sendWithinMs = SEND_WITHIN_MS } = options;
    this.#options = options;
    this.#exporter = new CountedExporter(options);
    this.#sdk = new NodeSDK({
      resource: resourceFromAttributes({
        'service.namespace': 'berth',
        'service.name': process,
        ...(instance === null ? {} : { 'service.instance.id': instance }),
      }),
      sampler: new AlwaysOnSampler(),
      idGenerator: this.#ids,
      spanLimits: { attributeValueLengthLimit: TEXT_MAX_CHARACTERS },
      spanProcessors: [
        new BatchSpanProcessor(this.#exporter, {
          maxQueueSize: WAITING_MAX,
          maxExportBatchSize: BATCH_MAX,
          scheduledDelayMillis: SEND_EVERY_MS,
          exportTimeoutMillis: sendWithinMs,
        }),
      ],
      // What the variables of the SDK would switch on besides: spans are all that goes out.
      autoDetectResources: false,
      textMapPropagator: null,
      instrumentations: [],
      logRecordProcessors: [],
      metricReaders: [],
    });
    this.#sdk.start();
    this.#tracer = trace.getTracer('berth');
    options.logger.info('traces go out', { endpoint });
  }

  /** Never waits: what the collector does not take in time is dropped. */
  add(span: Span): void {
    const { metrics } = this.#options;
    if (this.#isClosing || this.#exporter.waiting >= WAITING_MAX) {
      metrics.spans.inc({ outcome: 'dropped' });
      return;
    }
    this.#exporter.waiting += 1;
    const { attributes = {}, context, endMs, error = null, kind = 'internal', name, startMs } = span;
    this.#ids.next = context;
    const above =
      span.parentSpanId === null
        ? ROOT_CONTEXT
        : trace.setSpanContext(ROOT_CONTEXT, { ...context, spanId: span.parentSpanId, traceFlags: TraceFlags.SAMPLED });
    const told = this.#tracer.startSpan(name, { kind: KINDS[kind], startTime: startMs, attributes }, above);
    if (error !== null) {
      told.setAttribute('error.type', error);
      told.setStatus({ code: SpanStatusCode.ERROR });
    }
    told.end(endMs);
  }

  /** Sends what waits, for as long as one batch may take. What did not go out is told of, and is no failure of the stop. */
  async close(): Promise<void> {
    this.#isClosing = true;
    try {
      await this.#sdk.shutdown();
    } catch (error) {
      this.#exporter.giveUp(error);
    } finally {
      trace.disable();
    }
  }
}

/** The ids of a span were given to others before the span is made. */
class GivenIds implements IdGenerator {
  next: { readonly traceId: string; readonly spanId: string } | null = null;
  readonly #random = new RandomIdGenerator();

  readonly generateTraceId = (): string => this.next?.traceId ?? this.#random.generateTraceId();
  readonly generateSpanId = (): string => this.next?.spanId ?? this.#random.generateSpanId();
}

/**
 * Sends one batch after another: the processor gives all that waits at once where it ends, and behind a batch that took too
 * long. Counts what went out and what did not, and says once that the collector does not answer, and once that it does again.
 */
class CountedExporter implements SpanExporter {
  waiting = 0;
  readonly #inner: OTLPTraceExporter;
  readonly #metrics: SpanMetrics;
  readonly #logger: Logger;
  #isFailing = false;
  #isOver = false;
  #sent: Promise<void> = Promise.resolve();

  constructor({ endpoint, logger, metrics, sendWithinMs = SEND_WITHIN_MS }: OtlpSpansOptions) {
    this.#inner = new OTLPTraceExporter({
      url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
      timeoutMillis: sendWithinMs,
    });
    this.#metrics = metrics;
    this.#logger = logger;
  }

  /** A batch that failed is told of here, and keeps the processor from no other one. */
  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#sent = this.#sent.then(async () => {
      const result = this.#isOver ? null : await this.#send(spans);
      // A batch that was given up is counted already, and what comes of it later changes nothing.
      if (result !== null && !this.#isOver) this.#tell(result, spans.length);
      done({ code: ExportResultCode.SUCCESS });
    });
  }

  /** The time at a stop was over before all had gone out: what waits still has failed. */
  giveUp(error: unknown): void {
    this.#isOver = true;
    this.#metrics.spans.inc({ outcome: 'failed' }, this.waiting);
    this.#logger.warn('the collector did not take in time what waited at the stop', { spans: this.waiting, error });
    this.waiting = 0;
  }

  /** Once what is under way has come to its end and is counted. */
  async shutdown(): Promise<void> {
    await this.#sent;
    await this.#inner.shutdown();
  }

  forceFlush(): Promise<void> {
    return this.#inner.forceFlush();
  }

  #send(spans: ReadableSpan[]): Promise<ExportResult> {
    return new Promise<ExportResult>((resolve) => {
      this.#inner.export(spans, resolve);
    }).catch((error: unknown) => ({ code: ExportResultCode.FAILED, error: error as Error }));
  }

  #tell({ code, error }: ExportResult, count: number): void {
    const isFailure = code !== ExportResultCode.SUCCESS;
    this.waiting -= count;
    this.#metrics.spans.inc({ outcome: isFailure ? 'failed' : 'sent' }, count);
    if (isFailure && !this.#isFailing)
      this.#logger.warn('the collector does not take traces; they are dropped', { error });
    if (!isFailure && this.#isFailing) this.#logger.info('the collector takes traces again');
    this.#isFailing = isFailure;
  }
}
