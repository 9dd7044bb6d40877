import { PlatformError } from '@berth/domain';
import { BodyBudget } from '@berth/http';
import type { MetricRegistry } from '@berth/telemetry';
import type { JobRequest } from './job-request.js';
import { LargeRequestBodies, type LargeRequestBodiesOptions } from './large-bodies.js';
import { requestBodyMetrics } from './metrics.js';
import type { OpenAiRequest } from './openai-request.js';
import { readRequestBody, type RequestBodyAsk, type BodyForms, type ReadBody } from './read-body.js';
import type { WebhookAddresses } from '../platform/index.js';

/** The longest text that is read at once, on the thread that serves everybody: a fraction of a trip to another one. */
export const AT_ONCE_MAX_CHARACTERS = 64 * 1024;

const RETRY_AFTER_SECONDS = 1;

export interface RequestBodiesOptions extends Omit<LargeRequestBodiesOptions, 'webhookNetworks'> {
  readonly webhooks: WebhookAddresses;
  readonly metrics: MetricRegistry;
}

/** Reads the bodies of requests for jobs; the large ones elsewhere, so that none keeps anybody else waiting. */
export class RequestBodies {
  readonly #webhooks: WebhookAddresses;
  readonly #large: LargeRequestBodies;
  /** Texts that wait for the thread. */
  readonly #waiting = new BodyBudget();
  readonly #unread;

  constructor({ webhooks, metrics, ...options }: RequestBodiesOptions) {
    this.#webhooks = webhooks;
    this.#large = new LargeRequestBodies({ ...options, webhookNetworks: webhooks.networks });
    this.#unread = requestBodyMetrics(metrics).unread;
  }

  /** @throws PlatformError as `parseJobRequest`; `service-unavailable` for want of room or when the router stops */
  job(body: string, accountId: string): Promise<JobRequest> {
    return this.#read<'job'>({ form: 'job', body }, accountId);
  }

  /** @throws PlatformError as `parseJobRequests`, and as `job` */
  batch(body: string, accountId: string): Promise<readonly JobRequest[]> {
    return this.#read<'batch'>({ form: 'batch', body }, accountId);
  }

  /** @throws PlatformError as `readOpenAiRequest`, and as `job` */
  openAi(request: Omit<RequestBodyAsk & { form: 'openai' }, 'form'>, accountId: string): Promise<OpenAiRequest> {
    return this.#read<'openai'>({ form: 'openai', ...request }, accountId);
  }

  close(): Promise<void> {
    return this.#large.close();
  }

  async #read<F extends keyof BodyForms>(ask: RequestBodyAsk & { form: F }, accountId: string): Promise<BodyForms[F]> {
    const isSmall = ask.body.length <= AT_ONCE_MAX_CHARACTERS;
    return (isSmall ? readRequestBody(ask, this.#webhooks) : await this.#readLarge(ask, accountId)) as BodyForms[F];
  }

  async #readLarge(ask: RequestBodyAsk, accountId: string): Promise<ReadBody> {
    const release = this.#waiting.take(ask.body.length, accountId);
    try {
      const reading = await this.#large.read(ask, accountId);
      if (reading.kind !== 'answer') {
        this.#unread.inc({ sign: reading.kind });
        throw refusalOf(reading.kind);
      }
      if (reading.answer.kind === 'read') return reading.answer.value;
      const { code, detail, errors } = reading.answer;
      throw new PlatformError(code, detail, errors === undefined ? {} : { errors });
    } finally {
      release();
    }
  }
}

/** That it takes its time is the body's own doing; of the others nothing is known of the body. */
function refusalOf(kind: 'time' | 'died' | 'closed'): PlatformError {
  switch (kind) {
    case 'time':
      return new PlatformError('invalid-job-request', 'The body takes too long to be read.');
    case 'died':
    case 'closed':
      return new PlatformError('service-unavailable', 'The body could not be read at the moment; try again.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    default:
      return kind satisfies never;
  }
}
