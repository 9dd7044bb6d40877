import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { WebhooksController } from './webhooks.controller.js';

/** Says what became of webhooks. Needs `Jobs`. */
@Module({ imports: [EndpointDirectoryModule], controllers: [WebhooksController] })
export class DeliveryLogModule {}
