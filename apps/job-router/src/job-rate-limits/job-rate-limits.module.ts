import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { Platform } from '../platform.port.js';
import { JobRates } from './job-rates.service.js';
import { rateMetrics } from './metrics.js';
import { RateCounters } from './rate-counters.js';
import { RateExchange } from './rate-exchange.service.js';
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
