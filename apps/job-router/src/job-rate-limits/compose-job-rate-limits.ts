import type { EndpointDirectory } from '../directory/index.js';
import type { Platform } from '../platform/index.js';
import { JobRates } from './job-rates.js';
import { rateMetrics } from './metrics.js';
import type { NatsRatePeers } from './nats-rate-peers.js';
import { RateCounters } from './rate-counters.js';
import { RateExchange } from './rate-exchange.js';

/** Limits of the job paths, before every handler of the application (`limitJobRates`). `exchange` is to be started. */
export function composeJobRateLimits(
  { clock, metrics, settings }: Platform,
  { directory, peers }: { readonly directory: EndpointDirectory; readonly peers: NatsRatePeers },
) {
  const exchange = new RateExchange({ counters: new RateCounters(), peers, clock });
  const rates = new JobRates({
    settings: settings.rateLimits,
    exchange,
    readyWorkers: (endpointId) => directory.readyWorkers(endpointId),
    refusals: rateMetrics(metrics, exchange.counters),
    clock,
  });
  return { exchange, rates };
}
