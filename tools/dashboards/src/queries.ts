/** Per second, of each series first, so that a process that began anew is no step back. */
const perSecond = (metric: string): string => `rate(${metric}[$__rate_interval])`;

/** Per second of all processes together. @param labels what is kept apart */
export const sumPerSecond = (metric: string, ...labels: readonly string[]): string =>
  `sum${by(labels)} (${perSecond(metric)})`;

/** @param histogram its name without `_bucket`, and its matchers where there are any */
export function quantile(share: number, histogram: string, ...labels: readonly string[]): string {
  const [name = '', matchers = ''] = histogram.split(/(?=\{)/);
  return `histogram_quantile(${share}, sum by (${['le', ...labels].join(', ')}) (${perSecond(`${name}_bucket${matchers}`)}))`;
}

/** What a load-balanced request ended with that could not be brought to a worker. Alerts use the same. */
export const UNSERVED = 'outcome=~"internal-error|no-worker-available|service-unavailable|too-many-held-requests"';

/** The median and the slow end of a time. */
export const quantiles = (histogram: string): { readonly expr: string; readonly legend: string }[] => [
  { expr: quantile(0.5, histogram), legend: 'half of them' },
  { expr: quantile(0.99, histogram), legend: '99 of 100' },
];

const by = (labels: readonly string[]): string => (labels.length === 0 ? '' : ` by (${labels.join(', ')})`);
