import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { EndpointDirectory } from '../directory/endpoint-directory.js';
import { Platform } from '../platform/platform.js';
import { JobRates } from './job-rates.js';
import { rateMetrics } from './metrics.js';
import { RateCounters } from './rate-counters.js';
import { RateExchange } from './rate-exchange.js';
import { RatePeers } from './rate-peers.port.js';

/** Limits of the job paths, before every handler of the application (`limitJobRates`). Needs `RatePeers`. */
@Module({
  imports: [EndpointDirectoryModule],
  providers: [
    {
      provide: RateExchange,
      inject: [Platform, RatePeers],
      useFactory: ({ clock }: Platform, peers: RatePeers) =>
        new RateExchange({ counters: new RateCounters(), peers, clock }),
    },
    {
      provide: JobRates,
      inject: [Platform, RateExchange, EndpointDirectory],
      useFactory: ({ clock, metrics, settings }: Platform, exchange: RateExchange, directory: EndpointDirectory) =>
        new JobRates({
          settings: settings.rateLimits,
          exchange,
          readyWorkers: (endpointId) => directory.readyWorkers(endpointId),
          refusals: rateMetrics(metrics, exchange.counters),
          clock,
        }),
    },
  ],
  exports: [JobRates, RateExchange],
})
export class JobRateLimitsModule {}
