import { Module } from '@nestjs/common';
import { API_KEY_DIRECTORY, type ApiKeyDirectory } from '@berth/http';
import { Platform } from '../platform/platform.js';
import { EndpointDirectory } from './endpoint-directory.js';
import { ControlPlaneSnapshots } from './snapshots.port.js';

/** What this router knows of the control plane. Needs `ControlPlaneSnapshots`. */
@Module({
  providers: [
    {
      provide: EndpointDirectory,
      inject: [ControlPlaneSnapshots, Platform],
      useFactory: (snapshots: ControlPlaneSnapshots, { clock }: Platform) =>
        new EndpointDirectory({ snapshots, clock }),
    },
    {
      provide: API_KEY_DIRECTORY,
      inject: [EndpointDirectory],
      useFactory: (directory: EndpointDirectory): ApiKeyDirectory => ({
        known: (prefix) => directory.knownApiKey(prefix),
        find: (prefix) => directory.findApiKey(prefix),
      }),
    },
  ],
  exports: [EndpointDirectory],
})
export class EndpointDirectoryModule {}
