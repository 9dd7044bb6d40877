import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { EndpointDirectory } from '../directory/endpoint-directory.js';
import { Platform } from '../platform/platform.js';
import { ControlPulse } from '../directory/control-pulse.port.js';
import { pulseMetrics } from './metrics.js';
import { QueueReasons } from './queue-reasons.js';

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
