import { Module } from '@nestjs/common';
import { INLINE_INPUT_MAX_BYTES } from '@berth/domain';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { JobNotices } from '../jobs/job-notices.port.js';
import { EXTRAS_MAX_BYTES, Platform } from '../platform.port.js';
import { AgentJobsController } from './agent-jobs.controller.js';
import { Dispatchers } from './dispatcher/dispatchers.service.js';
import { Doorbell } from './dispatcher/doorbell.port.js';
import { HandOut } from './hand-out.service.js';
import { dispatchObserver, dispatcherMetrics, gatewayMetrics } from './metrics.js';
import { Reporting } from './reporting.service.js';
import { Taking } from './taking.service.js';

/** Larger than any job in an answer: input and other members up to their limits, every character escaped. */
const LARGEST_JOB_BYTES = 2 * (INLINE_INPUT_MAX_BYTES + EXTRAS_MAX_BYTES) + 4 * 1024;

/** How many jobs fit into one message whatever they hold. */
const jobsThatFit = (messageMaxBytes: number): number => Math.max(1, Math.floor(messageMaxBytes / LARGEST_JOB_BYTES));

/** Answers agents. Needs `Doorbell` and `JobNotices`. */
@Module({
  imports: [EndpointDirectoryModule],
  controllers: [AgentJobsController],
  providers: [
    {
      provide: Dispatchers,
      inject: [Platform, Doorbell],
      useFactory: ({ store, metrics, logger, settings }: Platform, doorbell: Doorbell) => {
        const jobsPerReply = jobsThatFit(settings.messageMaxBytes);
        const observer = dispatchObserver(gatewayMetrics(metrics), logger);
        const dispatchers = new Dispatchers({ store, doorbell, jobsPerReply, observer });
        dispatcherMetrics(metrics, dispatchers);
        return dispatchers;
      },
    },
    {
      provide: Taking,
      inject: [EndpointDirectory, Dispatchers, Platform],
      useFactory: (directory: EndpointDirectory, dispatchers: Dispatchers, platform: Platform) =>
        new Taking({ directory, dispatchers, handOut: handOutOf(platform), clock: platform.clock }),
    },
    {
      provide: Reporting,
      inject: [Platform, JobNotices],
      useFactory: ({ store, metrics, logger }: Platform, notices: JobNotices) =>
        new Reporting({ store, notices, metrics: gatewayMetrics(metrics), logger }),
    },
  ],
  exports: [Dispatchers],
})
export class AgentGatewayModule {}

function handOutOf({ store, settings, metrics, logger }: Platform): HandOut {
  const { unopened } = gatewayMetrics(metrics);
  return new HandOut({ store, secrets: settings.secrets, logger, onUnopened: () => unopened.inc() });
}
