import type { NatsSnapshots } from '../directory/index.js';
import { statusBody } from '../jobs/index.js';
import type { Platform } from '../platform/index.js';
import { DeliverySender } from './delivery-sender.js';
import { DeliveryPoster, type DeliveryPosterOptions } from './delivery-poster.js';
import { webhookMetrics } from './metrics.js';
import type { NameLookup } from './name-lookup.port.js';
import type { OwnedDeliveries } from './owned-deliveries.port.js';
import { WebhookSigner } from './webhook-signer.js';
import { WebhookTransport } from './webhook-transport.js';

export interface WebhooksParts {
  readonly deliveries: OwnedDeliveries;
  readonly blobs: DeliveryPosterOptions['blobs'];
  readonly names: NameLookup;
  readonly snapshots: NatsSnapshots;
}

/** Sends what receivers are to be told of jobs that this router owns. It is to be started, and told what is due. */
export function composeWebhooks(
  platform: Platform,
  { blobs, deliveries, names, snapshots }: WebhooksParts,
): DeliverySender {
  const { clock, logger, metrics, random, settings, traces } = platform;
  const attempt = new DeliveryPoster({
    ...{ deliveries, blobs, clock, random, traces },
    statusBody: (job, output) => statusBody(job, { output, queue: null, debug: null }),
    signer: new WebhookSigner({ snapshots: snapshots.webhookSecrets, secrets: settings.secrets, clock }),
    transport: new WebhookTransport({ addresses: settings.webhookAddresses, names, clock }),
  });
  return new DeliverySender({
    ...{ deliveries, attempt, clock, logger, metrics: webhookMetrics(metrics) },
    accountOf: (endpointId) => snapshots.endpoints.get(endpointId)?.accountId ?? null,
  });
}
