import { Counter, Gauge, Histogram, collectDefaultMetrics } from 'prom-client';
import { faultOfName, type MetricType } from './metric-name.js';
import { expose, openMetricsRegistry, type Exposition, type Metrics } from './exposition.js';
import { TracedHistogram } from './traced-histogram.js';

export interface MetricDeclaration<Label extends string> {
  /** `berth_<who>_<noun>_<unit>`; a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
  /**
   * All values of each label, where they are known and few: each series is there from the start, at zero. Without it a first
   * failure is no increase, and nobody is told.
   */
  readonly values?: Readonly<Record<Label, readonly string[]>>;
}

export interface HistogramDeclaration<Label extends string> extends MetricDeclaration<Label> {
  /** Upper bounds, in the unit of the name. */
  readonly buckets: readonly number[];
}

/** A metric as the catalogue of metrics has it. */
export interface DeclaredMetric {
  readonly type: MetricType;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** Labels and value of one series. */
export interface SeriesReading<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

/** Buckets for times from a millisecond to a minute, in seconds. */
export const SECONDS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Buckets for times from a tenth of a second to a day, in seconds: jobs, and workers that start. */
export const LONG_SECONDS_BUCKETS = [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_800, 7_200, 86_400] as const;

/**
 * The metrics of one process. A room declares its own in `metrics.ts`, which exports nothing but functions that do:
 * `export const jobMetrics = (metrics: MetricRegistry) => ({ accepted: metrics.counter({ … }) })`.
 * Declaring a name twice gives the same metric; a name that breaks the rules is an error.
 */
export class MetricRegistry {
  readonly #registry = openMetricsRegistry();
  readonly #declared = new Map<string, DeclaredMetric>();

  /** All that was declared, by name. */
  get declared(): readonly DeclaredMetric[] {
    return [...this.#declared.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** Memory, CPU, event loop lag and the like of this process. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.#registry, prefix: 'berth_' });
  }

  counter<Label extends string = never>(declaration: MetricDeclaration<Label>): Counter<Label> {
    return this.#once('counter', declaration, (config) => {
      const counter = new Counter<Label>(config);
      for (const labels of combinations(declaration)) counter.inc(labels, 0);
      return counter;
    });
  }

  gauge<Label extends string = never>(declaration: MetricDeclaration<Label>): Gauge<Label> {
    return this.#once('gauge', declaration, (config) => {
      const gauge = new Gauge<Label>(config);
      for (const labels of combinations(declaration)) gauge.set(labels, 0);
      return gauge;
    });
  }

  /** A gauge whose value is asked for when the metrics are read. */
  gaugeOf(declaration: MetricDeclaration<never>, read: () => number): void {
    this.gaugesOf(declaration, () => [{ labels: {}, value: read() }]);
  }

  /** The same of a gauge with labels: series that a reading leaves out are gone. */
  gaugesOf<Label extends string>(
    declaration: MetricDeclaration<Label>,
    read: () => Iterable<SeriesReading<Label>>,
  ): void {
    this.#once('gauge', declaration, (config) => {
      const gauge: Gauge<Label> = new Gauge<Label>({
        ...config,
        collect: () => {
          gauge.reset();
          for (const { labels, value } of read()) gauge.set(labels, value);
        },
      });
      return gauge;
    });
  }

  histogram<Label extends string = never>(declaration: HistogramDeclaration<Label>): Histogram<Label> {
    return this.#once('histogram', declaration, (config) => {
      const histogram = new Histogram<Label>({ ...config, buckets: [...declaration.buckets] });
      for (const labels of combinations(declaration)) histogram.zero(labels);
      return histogram;
    });
  }

  /** The same, with a recorded trace for each bucket where there is one. */
  tracedHistogram<Label extends string = never>(declaration: HistogramDeclaration<Label>): TracedHistogram<Label> {
    return new TracedHistogram(
      this.#once('histogram', declaration, (config) => {
        const histogram = new Histogram<Label>({
          ...config,
          buckets: [...declaration.buckets],
          enableExemplars: true,
        });
        for (const labels of combinations(declaration)) histogram.zero(labels);
        return histogram;
      }),
    );
  }

  /** All metrics in the Prometheus text format. */
  async text(): Promise<string> {
    return (await this.expose(undefined)).text;
  }

  /** All metrics in the format that the header `accept` asks for: OpenMetrics, with exemplars, or that of Prometheus. */
  expose(accept: string | undefined): Promise<Exposition> {
    return expose(this.#registry, accept);
  }

  #once<Label extends string, Metric>(
    type: MetricType,
    { help, labels = [], name }: MetricDeclaration<Label>,
    make: (config: { name: string; help: string; labelNames: Label[]; registers: [Metrics] }) => Metric,
  ): Metric {
    const present = this.#registry.getSingleMetric(name) as Metric | undefined;
    if (present !== undefined) return present;
    const fault = faultOfName(type, name);
    if (fault !== null) throw new Error(`the name of a metric, ${name}: ${fault}`);
    this.#declared.set(name, { type, name, help, labels });
    return make({ name, help, labelNames: [...labels], registers: [this.#registry] });
  }
}

/** Each combination of what the labels of a metric may be; none where that is not said. */
function combinations<Label extends string>({
  labels = [],
  values,
}: MetricDeclaration<Label>): Record<Label, string>[] {
  if (values === undefined) return [];
  return labels.reduce<Record<Label, string>[]>(
    (before, label) => before.flatMap((each) => values[label].map((value) => ({ ...each, [label]: value }))),
    [{} as Record<Label, string>],
  );
}
