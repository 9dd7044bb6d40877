import { Counter, Registry, type Metric, type OpenMetricsContentType } from 'prom-client';

/** The metrics as a text, and in which format that is. */
export interface Exposition {
  readonly contentType: string;
  readonly text: string;
}

/** Holds metrics with and without exemplars. It is never asked for its text itself: see `withoutTotal`. */
export type Metrics = Registry<OpenMetricsContentType>;

export function openMetricsRegistry(): Metrics {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}

/**
 * All metrics in the format that who asks takes.
 *
 * @param accept as of the HTTP header: Prometheus asks for OpenMetrics, which alone has exemplars
 */
export async function expose(metrics: Metrics, accept: string | undefined): Promise<Exposition> {
  const each = metrics.getMetricsAsArray() as unknown as NamedMetric[];
  const registry = accept?.includes('application/openmetrics-text')
    ? holding(openMetricsRegistry(), each.map(withoutTotal))
    : holding(new Registry(), each);
  return { contentType: registry.contentType, text: await registry.metrics() };
}

/** What the library's types leave out. */
type NamedMetric = Metric & { readonly name: string };

function holding<Held extends Pick<Registry, 'registerMetric'>>(registry: Held, metrics: readonly NamedMetric[]): Held {
  for (const metric of metrics) registry.registerMetric(metric);
  return registry;
}

/**
 * OpenMetrics adds `_total` to the name of a counter, and the library takes it away beforehand for good. So it gets something
 * that is read once, and the counter, which the other format needs whole, stays as it is.
 */
function withoutTotal(metric: NamedMetric): NamedMetric {
  if (!(metric instanceof Counter)) return metric;
  const name = metric.name.replace(/_total$/, '');
  const get = async () => ({ ...(await metric.get()), name });
  return { name, type: 'counter', get } as unknown as NamedMetric;
}
