import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { JobViewModule } from '../job-view/job-view.module.js';
import { JobView } from '../job-view/job-view.service.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { Platform } from '../platform.port.js';
import { DeliveryAttempt } from './delivery-attempt.js';
import { DeliveryLog } from './delivery-log.service.js';
import { DeliveryMaker } from './delivery-maker.js';
import { DeliverySender } from './delivery-sender.js';
import { pendingMetrics, webhookMetrics } from './metrics.js';
import { NameLookup } from './name-lookup.port.js';
import { PendingDeliveries } from './pending-deliveries.port.js';
import { WebhookSecretSnapshots } from './webhook-secrets.port.js';
import { WebhookSigner } from './webhook-signer.js';
import { WebhookTransport } from './webhook-transport.js';
import { WebhooksController } from './webhooks.controller.js';
import { Webhooks } from './webhooks.service.js';

/** Tells receivers how jobs ended. Needs `PendingDeliveries`, `WebhookSecretSnapshots` and `NameLookup`. */
@Module({
  imports: [EndpointDirectoryModule, JobViewModule, JobsModule],
  controllers: [WebhooksController],
  providers: [
    {
      provide: DeliveryLog,
      inject: [Platform],
      useFactory: ({ store }: Platform) => new DeliveryLog(store),
    },
    {
      provide: DeliverySender,
      inject: [Platform, PendingDeliveries, WebhookSecretSnapshots, NameLookup, JobReader],
      useFactory: composeSender,
    },
    {
      provide: DeliveryMaker,
      inject: [Platform, JobView, PendingDeliveries],
      useFactory: ({ store, logger, metrics }: Platform, view: JobView, pending: PendingDeliveries) => {
        pending.onSeen((key) => {
          view.markTold(key);
        });
        return new DeliveryMaker({ store, view, metrics: webhookMetrics(metrics), logger });
      },
    },
    {
      provide: Webhooks,
      inject: [DeliverySender, DeliveryMaker],
      useFactory: (sender: DeliverySender, maker: DeliveryMaker) => new Webhooks(sender, maker),
    },
  ],
  exports: [Webhooks],
})
export class WebhooksModule {}

function composeSender(
  platform: Platform,
  pending: PendingDeliveries,
  ...[snapshots, names, reader]: [WebhookSecretSnapshots, NameLookup, JobReader]
): DeliverySender {
  const { store, clock, logger, metrics, settings } = platform;
  pendingMetrics(metrics, pending, clock);
  const attempt = new DeliveryAttempt({
    store,
    statusBody: (job) => reader.statusBody(job),
    signer: new WebhookSigner({ snapshots, secrets: settings.secrets, clock }),
    transport: new WebhookTransport({ addresses: settings.webhookAddresses, names, clock }),
  });
  return new DeliverySender({
    pending,
    attempt,
    clock,
    random: store.random,
    metrics: webhookMetrics(metrics),
    logger,
  });
}
