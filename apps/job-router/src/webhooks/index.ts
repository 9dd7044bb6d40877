export { composeWebhooks } from './compose-webhooks.js';
export { NameLookup } from './name-lookup.port.js';
export { type EndToTell, type OwnedDeliveries } from './owned-deliveries.port.js';
export { SystemNameLookup } from './system-name-lookup.js';
export { WebhooksController } from './webhooks.controller.js';
