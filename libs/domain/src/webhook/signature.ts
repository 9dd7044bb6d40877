import type { DeliveryKey } from './delivery.js';

/** How a secret begins as its owner sees it; base64 of its bytes follows (Standard Webhooks). */
export const WEBHOOK_SECRET_PREFIX = 'whsec_';

/** A replaced secret signs beside the new one for so long (API decisions 2.18). */
export const WEBHOOK_SECRET_OVERLAP_MS = 24 * 3_600_000;

/** `webhook-id`: the same in all tries, so that a receiver knows a repeat. Without a dot, which separates what is signed. */
export const webhookMessageId = ({ jobId, attempt }: Omit<DeliveryKey, 'endpointId'>): string =>
  `msg_${jobId}_${attempt}`;

/**
 * The text that is signed in front of the body (Standard Webhooks, "Signature scheme"): `id.timestamp.`
 *
 * @param atSeconds Unix seconds, as in `webhook-timestamp`
 */
export const signedPrefix = (id: string, atSeconds: number): string => `${id}.${atSeconds}.`;

/** The value of `webhook-signature`: every secret's signature, base64, separated by spaces. */
export const signatureHeader = (signatures: readonly string[]): string =>
  signatures.map((signature) => `v1,${signature}`).join(' ');
