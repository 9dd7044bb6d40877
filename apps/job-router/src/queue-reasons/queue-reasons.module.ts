import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { Platform } from '../platform.port.js';
import { ControlPulse } from './control-pulse.port.js';
import { pulseMetrics } from './metrics.js';
import { QueueReasons } from './queue-reasons.service.js';

/** Why jobs wait. Needs `ControlPulse`. */
@Module({
  imports: [EndpointDirectoryModule],
  providers: [
    {
      provide: QueueReasons,
      inject: [Platform, EndpointDirectory, ControlPulse],
      useFactory: ({ clock, metrics }: Platform, directory: EndpointDirectory, pulse: ControlPulse) => {
        pulseMetrics(metrics, pulse, clock);
        return new QueueReasons({ directory, pulse, clock });
      },
    },
  ],
  exports: [QueueReasons],
})
export class QueueReasonsModule {}
