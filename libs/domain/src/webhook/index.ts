export {
  deliveryKeyOf,
  deliverySize,
  newDelivery,
  type Delivery,
  type DeliveryClaim,
  type DeliveryKey,
  type DeliveryTry,
} from './delivery.js';
export {
  CLAIM_MS,
  DELIVERY_MADE_WITHIN_MS,
  LOST_ERROR,
  TRIES_MAX,
  TRY_INTERVAL_MS,
  TRY_TIMEOUT_MS,
  claimTry,
  deliveryDueAtMs,
  deliveryTtlMs,
  settleTry,
  withLastTryClosed,
  type ClaimVerdict,
  type TryResult,
} from './delivery-steps.js';
export { FORBIDDEN_IPV4, FORBIDDEN_IPV6, type ForbiddenNetwork } from './forbidden-networks.js';
export {
  WEBHOOK_SECRET_OVERLAP_MS,
  WEBHOOK_SECRET_PREFIX,
  signatureHeader,
  signedPrefix,
  webhookMessageId,
} from './signature.js';
