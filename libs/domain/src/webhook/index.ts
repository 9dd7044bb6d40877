export { type DeliveryClaim, type DeliveryKey, type DeliveryTry, type ToldDelivery } from './delivery.js';
export {
  CLAIM_MS,
  LOST_ERROR,
  TRIES_MAX,
  TRY_INTERVAL_MS,
  TRY_TIMEOUT_MS,
  withLastTryClosed,
  type TryResult,
} from './delivery-tries.js';
export { FORBIDDEN_IPV4, FORBIDDEN_IPV6, type ForbiddenNetwork } from './forbidden-networks.js';
export {
  WEBHOOK_SECRET_OVERLAP_MS,
  WEBHOOK_SECRET_PREFIX,
  signatureHeader,
  signedPrefix,
  webhookMessageId,
} from './signature.js';
export { webhookOrigin } from './webhook-origin.js';
