import type { EndpointSnapshot } from '@berth/contracts';
import { PlatformError, faultOfHead, isHealthCheck, isPreflight, type EndpointId } from '@berth/domain';
import { prefixOfApiKey } from '@berth/http';
import type { LoadBalancerDirectory } from './directory.port.js';
import { tooLarge } from './answer-problem.js';
import type { Visit } from './visit.js';

/** Where its writer does not say it (service description, load-balancer environment). */
const HEALTH_PATH_DEFAULT = '/ping';

export interface AdmittedVisit {
  readonly endpoint: EndpointSnapshot;
  /** By a key, which may be revoked while the request waits. */
  readonly isKeyed: boolean;
  /** It wakes nobody and waits for nobody. */
  readonly isPassing: boolean;
  /** `Authorization` was for us, or holds a key of ours. */
  readonly hidesAuthorization: boolean;
}

export interface AdmitOptions {
  readonly directory: Pick<LoadBalancerDirectory, 'authorize' | 'knownEndpoint'>;
  readonly bodyBytesMax: number;
}

/**
 * Whether the request may go to a worker, by its head alone: nothing of its body has been read, and nobody is woken by one
 * that may not.
 *
 * @throws PlatformError
 */
export async function admitVisit(visit: Visit, { bodyBytesMax, directory }: AdmitOptions): Promise<AdmittedVisit> {
  const { request } = visit;
  const { httpVersion, rawHeaders: headers, url = '' } = request;
  const fault = faultOfHead({ url, headers, httpVersion });
  if (fault !== null) throw new PlatformError(fault.code, fault.detail);
  const { access, endpoint } = await admitCaller(visit, directory);
  if (endpoint.type !== 'LOAD_BALANCER') throw new PlatformError('wrong-endpoint-type', 'not allowed for QB API');
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) throw tooLarge(bodyBytesMax);
  const isCheck = isHealthCheck({ method: request.method ?? '', url }, endpoint.healthCheckPath ?? HEALTH_PATH_DEFAULT);
  return {
    endpoint,
    isKeyed: access === 'key',
    isPassing: isCheck || access === 'preflight',
    hidesAuthorization: access !== 'public' || holdsOurKey(request.headersDistinct['authorization']),
  };
}

/** Also a public endpoint's workers are no readers of our callers' keys, which clients send out of habit. */
const holdsOurKey = (fields: readonly string[] = []): boolean =>
  fields.flatMap((field) => field.split(/[\s,]+/)).some((word) => prefixOfApiKey(word) !== null);

type Access = 'key' | 'public' | 'preflight';

/** Strangers are asked for nothing that this router does not know, so that they cause no reading. */
async function admitCaller(
  { connection, endpointId, request }: Visit,
  directory: AdmitOptions['directory'],
): Promise<{ readonly endpoint: EndpointSnapshot; readonly access: Access }> {
  const known = directory.knownEndpoint(endpointId as EndpointId);
  const access = known === null || known.isDeleted ? 'key' : accessOf(known, request);
  if (known !== null && access !== 'key') {
    await connection.meet(known.accountId);
    return { endpoint: known, access };
  }
  const caller = await connection.admit();
  return { endpoint: await directory.authorize(caller, endpointId, 'jobs:write'), access: 'key' };
}

function accessOf({ access }: EndpointSnapshot, { method = '', rawHeaders }: Visit['request']): Access {
  if (access?.isPublic === true) return 'public';
  return access?.allowsPreflights === true && isPreflight(method, rawHeaders) ? 'preflight' : 'key';
}
