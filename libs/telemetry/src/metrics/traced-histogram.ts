import type { Histogram } from 'prom-client';
import { isRecorded, parseTraceparent } from '../tracing/traceparent.js';

/** A histogram that remembers for each bucket the last recorded trace which fell into it. Only OpenMetrics tells of them. */
export class TracedHistogram<Label extends string> {
  readonly #histogram: Histogram;

  constructor(histogram: Histogram<Label>) {
    // As one of any labels: the library's type wants those of an exemplar to be among those of the metric.
    this.#histogram = histogram;
  }

  /** @param traceparent of what was measured; one that is not recorded leads nowhere, and is left out */
  observe(labels: Readonly<Record<Label, string>>, value: number, traceparent: string | null | undefined): void {
    this.#histogram.observe({ labels, value, exemplarLabels: exemplarOf(traceparent) });
  }
}

/** Under the name by which Grafana and Prometheus look for it. */
function exemplarOf(traceparent: string | null | undefined): Record<string, string> {
  const trace = isRecorded(traceparent) ? parseTraceparent(traceparent ?? undefined) : null;
  return trace === null ? {} : { trace_id: trace.traceId };
}
