import type { Clock, Random } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { Logger, MetricRegistry, Traces } from '@berth/telemetry';
import type { WebhookAddresses } from './webhook-addresses.js';

/** How the requests of job paths are limited. */
export interface RateLimitSettings {
  readonly isOn: boolean;
  /** Requests within 10 s that each ready worker of an endpoint allows. */
  readonly requestsPerWorker: number;
}

/** Of the door to load-balanced endpoints. */
interface LoadBalancerSettings {
  /** Each endpoint's host name is `{endpointId}.{domain}`; a port in it does not count. */
  readonly domain: string;
  /** How long a request waits for a worker. */
  readonly holdMs: number;
  readonly bodyBytesMax: number;
  /** Of 1,000 requests that we did not fail, as many are logged. */
  readonly loggedPermille: number;
}

/** The part of the configuration that rooms need. */
export interface RouterSettings {
  /** Names this process to the controllers. */
  readonly routerId: string;
  /** Rendering of `/stream` for callers that nothing tells apart. */
  readonly streamFormat: 'array' | 'object';
  readonly rateLimits: RateLimitSettings;
  readonly loadBalancer: LoadBalancerSettings;
  /** Problem pages are at `{docsUrl}/problems/<code>`. */
  readonly docsUrl: string;
  /** Seals what callers give in confidence; the same key as the control plane's. */
  readonly secrets: SecretBox;
  /** Where webhooks may go. */
  readonly webhookAddresses: WebhookAddresses;
}

/** Settings and what the broker has told when the connection stood. */
export interface PlatformSettings extends RouterSettings {
  /** The largest message that the broker takes. */
  readonly messageMaxBytes: number;
}

/** The parts on which every room stands; the composition root provides them. */
export abstract class Platform {
  abstract readonly clock: Clock;
  abstract readonly random: Random;
  abstract readonly logger: Logger;
  abstract readonly metrics: MetricRegistry;
  abstract readonly traces: Traces;
  abstract readonly settings: PlatformSettings;
}
