import type { EndpointId } from '../ids.js';
import { ENDPOINT_DEFAULTS } from './defaults.js';
import type { EndpointType } from './endpoint.js';

/** Addresses of a `QUEUE` endpoint; those of one job end in the placeholder `{job_id}`. */
export interface QueueUrls {
  readonly run: string;
  readonly runSync: string;
  readonly status: string;
  readonly stream: string;
  readonly cancel: string;
  readonly retry: string;
  readonly purgeQueue: string;
  readonly health: string;
}

export interface LoadBalancerUrls {
  /** Prefix of every path that the workers define. */
  readonly base: string;
  /** The address that is polled to know whether a worker is well. */
  readonly health: string;
}

/** Where this installation is reached. */
export interface PublicAddresses {
  /** Scheme and authority of the job paths, as `https://jobs.example.com`. */
  readonly runUrl: string;
  /** Domain with port under which each load-balanced endpoint has a host of its own. Its scheme is that of `runUrl`. */
  readonly loadBalancerDomain: string;
}

/** `requestUrls` of an endpoint (API decisions 3.2). */
export function requestUrls(
  endpoint: { readonly id: EndpointId; readonly type: EndpointType; readonly env: Readonly<Record<string, string>> },
  addresses: PublicAddresses,
): QueueUrls | LoadBalancerUrls {
  return endpoint.type === 'QUEUE'
    ? queueUrls(endpoint.id, addresses)
    : loadBalancerUrls(endpoint.id, endpoint.env, addresses);
}

/** The path polled for a load-balanced worker's health, with its leading slash. */
export function healthCheckPath(env: Readonly<Record<string, string>>): string {
  const path = env['HEALTH_CHECK_PATH'] ?? '';
  if (path === '') return ENDPOINT_DEFAULTS.healthCheckPath;
  return path.startsWith('/') ? path : `/${path}`;
}

function queueUrls(endpointId: EndpointId, { runUrl }: PublicAddresses): QueueUrls {
  const prefix = `${withoutSlash(runUrl)}/v2/${endpointId}`;
  const ofJob = (operation: string): string => `${prefix}/${operation}/{job_id}`;
  return {
    run: `${prefix}/run`,
    runSync: `${prefix}/runsync`,
    status: ofJob('status'),
    stream: ofJob('stream'),
    cancel: ofJob('cancel'),
    retry: ofJob('retry'),
    purgeQueue: `${prefix}/purge-queue`,
    health: `${prefix}/health`,
  };
}

function loadBalancerUrls(
  endpointId: EndpointId,
  env: Readonly<Record<string, string>>,
  { runUrl, loadBalancerDomain }: PublicAddresses,
): LoadBalancerUrls {
  const scheme = runUrl.startsWith('https:') ? 'https' : 'http';
  const base = `${scheme}://${endpointId}.${loadBalancerDomain}`;
  return { base, health: `${base}${healthCheckPath(env)}` };
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
