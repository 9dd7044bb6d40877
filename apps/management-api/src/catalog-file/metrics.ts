import type { MetricRegistry } from '@berth/telemetry';

/** Programs that read the catalog, by what they are called. */
export type CatalogApp = 'management-api' | 'controllers';

const PREFIXES: Readonly<Record<CatalogApp, string>> = { 'management-api': 'management', controllers: 'controllers' };

export const catalogMetrics = (metrics: MetricRegistry, app: CatalogApp) => ({
  differences: metrics.gauge({
    name: `${PREFIXES[app]}_catalog_differences`,
    help: 'Processes of the control plane that run with another hardware catalog than this one, 20 at most.',
  }),
});
