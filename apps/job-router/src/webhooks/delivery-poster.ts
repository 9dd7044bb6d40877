import { jobAttributes } from '@berth/contracts';
import type { DeliveryKey, EndTryCommand, EndpointId } from '@berth/domain';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import { addToLogContext, loggedTrace, type Traces } from '@berth/telemetry';
import { isUnavailable } from '../owners/index.js';
import type { WebhookSigner } from './webhook-signer.js';
import type { Receipt, WebhookTransport } from './webhook-transport.js';
import type { EndToTell, OwnedDeliveries } from './owned-deliveries.port.js';
import { webhookBody, type WebhookBodyParts } from './webhook-body.js';

export interface DeliveryPosterOptions extends WebhookBodyParts {
  readonly deliveries: OwnedDeliveries;
  readonly signer: Pick<WebhookSigner, 'keysOf' | 'headers'>;
  readonly transport: Pick<WebhookTransport, 'post'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly traces: Pick<Traces, 'step' | 'afterwards'>;
}

/**
 * `gone`: there is no such delivery any more. `no-secret`: nothing signs for the endpoint yet. `not-begun`: it is not due,
 * or another router's. `stalled`: this process stood still after the try began, so it sends nothing: the try counts as
 * lost. `unsettled`: what came of the try could not be told in time; it counts as lost.
 */
export type TryOutcome =
  | { readonly kind: 'tried'; readonly receipt: Receipt }
  | { readonly kind: 'gone' | 'no-secret' | 'not-begun' | 'stalled' | 'unsettled' };

/** From the word that the try shall begin. The request takes 10 s at most, and its end must be told while the claim lasts. */
const SEND_WITHIN_MS = 5_000;

const SETTLE_PATIENCE = { attemptsMax: 4, baseDelayMs: 200, maxDelayMs: 1_000 } as const;

const USER_AGENT = 'Berth-Webhooks/1.0';
const PAYLOAD_GONE: Receipt = {
  kind: 'payload-gone',
  isSuccess: false,
  statusCode: null,
  error: "the job's input or output is not kept any longer",
};

/** Makes one try of a delivery: everything that may fail on our side comes before the try begins, since it counts then. */
export class DeliveryPoster {
  readonly #options: DeliveryPosterOptions;

  constructor(options: DeliveryPosterOptions) {
    this.#options = options;
  }

  /** @throws PlatformError `service-unavailable` before anything was begun; SecretError */
  async run(key: DeliveryKey): Promise<TryOutcome> {
    const { clock, deliveries, random, signer } = this.#options;
    const told = await deliveries.read(key);
    if (told === null) return { kind: 'gone' };
    addToLogContext(loggedTrace(told.body.traceparent));
    const keys = await signer.keysOf(key.endpointId);
    if (keys.length === 0) return { kind: 'no-secret' };
    const body = await webhookBody(this.#options, key, told);
    const { attempt, endpointId, jobId } = key;
    const name = { jobId, attempt, token: random.uuid() };
    const askedAtMs = clock.monotonicMs();
    const untilMs = await deliveries.begin(endpointId, { kind: 'begin-try', ...name });
    if (untilMs === null) return { kind: 'not-begun' };
    if (clock.monotonicMs() - askedAtMs > SEND_WITHIN_MS) return { kind: 'stalled' };
    const receipt = body === null ? PAYLOAD_GONE : await this.#post(key, told, { body, keys });
    const { error, isSuccess, statusCode } = receipt;
    const isTold = await this.#settle(endpointId, { kind: 'end-try', ...name, isSuccess, statusCode, error }, untilMs);
    return isTold ? { kind: 'tried', receipt } : { kind: 'unsettled' };
  }

  async #post(
    key: DeliveryKey,
    told: EndToTell,
    { body, keys }: { readonly body: Buffer; readonly keys: readonly Buffer[] },
  ): Promise<Receipt> {
    const { signer, traces, transport } = this.#options;
    const { traceparent: submitted } = told.body;
    // What failed is recorded whatever was meant for it.
    const isFailure = told.job.state === 'FAILED' || told.job.state === 'TIMED_OUT';
    const step = isFailure ? traces.afterwards(submitted) : traces.step(submitted);
    const traceparent = step?.traceparent ?? submitted;
    const receipt = await transport.post({
      url: told.url,
      body,
      headers: {
        ...signer.headers(key, body, keys),
        'content-type': 'application/json',
        'content-length': `${body.byteLength}`,
        'user-agent': USER_AGENT,
        ...(traceparent === null ? {} : { traceparent }),
      },
    });
    step?.end({
      name: 'POST webhook',
      kind: 'client',
      attributes: {
        ...jobAttributes({ endpointId: key.endpointId, jobId: key.jobId, attempt: key.attempt }),
        'http.request.method': 'POST',
        'server.address': new URL(told.url).hostname,
        ...(receipt.statusCode === null ? {} : { 'http.response.status_code': receipt.statusCode }),
      },
      error: receipt.isSuccess ? null : receipt.kind,
    });
    return receipt;
  }

  /** Once the claim is over the try counts as lost, whatever is told. */
  async #settle(endpointId: EndpointId, command: EndTryCommand, untilMs: number): Promise<boolean> {
    const { clock, deliveries, random } = this.#options;
    const isRetriable = (error: unknown): boolean => isUnavailable(error) && clock.nowMs() < untilMs;
    try {
      await retry(() => deliveries.end(endpointId, command), { ...SETTLE_PATIENCE, clock, random, isRetriable });
      return true;
    } catch (error) {
      if (isUnavailable(error)) return false;
      throw error;
    }
  }
}
