import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

export interface MetricDeclaration<Label extends string> {
  /** `<app>_<noun>_<unit>`; a counter ends in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export interface HistogramDeclaration<Label extends string> extends MetricDeclaration<Label> {
  /** Upper bounds, in the unit of the name. */
  readonly buckets: readonly number[];
}

/** Buckets for times from a millisecond to a minute, in seconds. */
export const SECONDS_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/**
 * The metrics of one process. A room declares its own in `metrics.ts`:
 * `export const jobMetrics = (metrics: MetricRegistry) => ({ accepted: metrics.counter({ … }) })`.
 * Declaring a name twice gives the same metric.
 */
export class MetricRegistry {
  readonly #registry = new Registry();
  readonly contentType = this.#registry.contentType;

  /** Memory, CPU, event loop lag and the like of this process. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.#registry });
  }

  counter<Label extends string = never>(declaration: MetricDeclaration<Label>): Counter<Label> {
    return this.#once(declaration.name, () => new Counter<Label>(this.#config(declaration)));
  }

  gauge<Label extends string = never>(declaration: MetricDeclaration<Label>): Gauge<Label> {
    return this.#once(declaration.name, () => new Gauge<Label>(this.#config(declaration)));
  }

  /** A gauge whose value is asked for when the metrics are read. */
  gaugeOf(declaration: MetricDeclaration<never>, read: () => number): void {
    const config = this.#config(declaration);
    this.#once(declaration.name, () => {
      const gauge: Gauge = new Gauge({
        ...config,
        collect: () => {
          gauge.set(read());
        },
      });
      return gauge;
    });
  }

  histogram<Label extends string = never>(declaration: HistogramDeclaration<Label>): Histogram<Label> {
    const config = { ...this.#config(declaration), buckets: [...declaration.buckets] };
    return this.#once(declaration.name, () => new Histogram<Label>(config));
  }

  /** All metrics in the Prometheus text format. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #config<Label extends string>({ name, help, labels = [] }: MetricDeclaration<Label>) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }

  #once<Metric>(name: string, make: () => Metric): Metric {
    return (this.#registry.getSingleMetric(name) as Metric | undefined) ?? make();
  }
}
