import type { Delivery, Job } from '@berth/domain';
import { claimDelivery, settleDelivery, type ClaimedDelivery, type JobStore } from '@berth/jobs';
import { retry } from '@berth/lifecycle';
import { continueTrace, formatTraceparent, parseTraceparent, startTrace } from '@berth/telemetry';
import { isUnavailable } from '../patiently.js';
import type { PendingDelivery } from './pending-deliveries.port.js';
import { webhookBody, type WebhookBodyParts } from './webhook-body.js';
import type { WebhookSigner } from './webhook-signer.js';
import type { Receipt, WebhookTransport } from './webhook-transport.js';

export interface DeliveryAttemptOptions {
  readonly store: Pick<JobStore, 'deliveries' | 'blobs' | 'clock' | 'random'>;
  readonly statusBody: WebhookBodyParts['statusBody'];
  readonly signer: Pick<WebhookSigner, 'keysOf' | 'headers'>;
  readonly transport: Pick<WebhookTransport, 'post'>;
}

/**
 * `gone`: there is no such delivery any more. `not-due`: another router is at it, or was. `no-secret`: nothing signs for
 * the endpoint yet. `stalled`: this process stood still after its claim, so it sends nothing: the try counts as lost.
 * `unsettled`: what came of the try could not be written down in time; it counts as lost.
 */
export type AttemptOutcome =
  | { readonly kind: 'tried'; readonly receipt: Receipt; readonly delivery: Delivery }
  | { readonly kind: 'gone' | 'not-due' | 'no-secret' | 'stalled' | 'unsettled' };

/** From the claim on. The request takes 10 s at most and its end must be written while the claim lasts. */
const SEND_WITHIN_MS = 10_000;

/** About eight seconds, where the store says at once that it cannot; where it is silent, as long as the claim. */
const SETTLE_PATIENCE = { attemptsMax: 8, baseDelayMs: 200, maxDelayMs: 2_000 } as const;

const USER_AGENT = 'Berth-Webhooks/1.0';
const PAYLOAD_GONE: Receipt = {
  kind: 'payload-gone',
  isSuccess: false,
  statusCode: null,
  error: "the job's input or output is not kept any longer",
};

/** Makes one try of a delivery: everything that may fail on our side comes before the claim, since the claim counts. */
export class DeliveryAttempt {
  readonly #options: DeliveryAttemptOptions;

  constructor(options: DeliveryAttemptOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `service-unavailable` before anything was claimed; SecretError */
  async run(pending: PendingDelivery): Promise<AttemptOutcome> {
    const { store, signer, statusBody } = this.#options;
    const stored = await store.deliveries.read(pending);
    if (stored === null) return { kind: 'gone' };
    const { job } = stored.delivery;
    if (job === null) return { kind: 'not-due' };
    const keys = await signer.keysOf(pending.endpointId);
    if (keys.length === 0) return { kind: 'no-secret' };
    const body = await webhookBody({ store, statusBody }, job);
    const startedMs = store.clock.monotonicMs();
    const claim = await claimDelivery(store, pending);
    if (claim.kind === 'not-found') return { kind: 'gone' };
    if (claim.kind !== 'claimed') return { kind: 'not-due' };
    if (store.clock.monotonicMs() - startedMs > SEND_WITHIN_MS) return { kind: 'stalled' };
    const receipt = body === null ? PAYLOAD_GONE : await this.#post(claim.delivery, { job, body, keys });
    return this.#settle(claim, receipt);
  }

  #post(
    delivery: Delivery,
    { job, body, keys }: { readonly job: Job; readonly body: Buffer; readonly keys: readonly Buffer[] },
  ): Promise<Receipt> {
    const { signer, store, transport } = this.#options;
    const parent = parseTraceparent(job.traceparent ?? undefined);
    const trace = parent === null ? startTrace(store.random) : continueTrace(parent, store.random);
    return transport.post({
      url: delivery.url,
      body,
      headers: {
        ...signer.headers(delivery, body, keys),
        'content-type': 'application/json',
        'content-length': `${body.byteLength}`,
        'user-agent': USER_AGENT,
        traceparent: formatTraceparent(trace),
      },
    });
  }

  async #settle(claim: ClaimedDelivery, receipt: Receipt): Promise<AttemptOutcome> {
    const { store } = this.#options;
    const { clock, random } = store;
    // Once the claim is over the try counts as lost, whatever is written.
    const untilMs = claim.delivery.claim?.untilMs ?? 0;
    const isRetriable = (error: unknown): boolean => isUnavailable(error) && clock.nowMs() < untilMs;
    const settle = (): Promise<Delivery | null> => settleDelivery(store, claim, receipt);
    try {
      const delivery = await retry(settle, { ...SETTLE_PATIENCE, clock, random, isRetriable });
      return delivery === null ? { kind: 'unsettled' } : { kind: 'tried', receipt, delivery };
    } catch (error) {
      if (isUnavailable(error)) return { kind: 'unsettled' };
      throw error;
    }
  }
}
