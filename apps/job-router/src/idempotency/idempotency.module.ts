import { Module } from '@nestjs/common';
import { Platform } from '../platform.port.js';
import { KeyedRequests } from './keyed-requests.service.js';

/** Requests that their callers may send again. */
@Module({
  providers: [
    {
      provide: KeyedRequests,
      inject: [Platform],
      useFactory: ({ store, settings }: Platform) => new KeyedRequests(store, settings.secrets),
    },
  ],
  exports: [KeyedRequests],
})
export class IdempotencyModule {}
