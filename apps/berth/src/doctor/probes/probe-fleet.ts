import { id, listOf, objectOf, readShape, text, type Shape } from '@berth/domain/shape';
import { inParallel } from '@berth/lifecycle';
import { HOST_LIST, type HostAnswer } from '../../hosts/index.js';
import type { EndpointPlace } from '../judges/judge-fleet.js';
import { get } from './probe-http.js';

export interface FleetAccess {
  readonly baseUrl: string;
  readonly apiKey: string;
}

const ENDPOINTS_LISTED_MAX = 100_000;
const ENDPOINTS_ASKED_MAX = 100;
const AT_ONCE = 4;
const REASONS_MAX = 10_000;

interface Endpoint {
  readonly id: string;
  readonly name: string;
}

const ENDPOINT_LIST = objectOf<{ endpoints: readonly Endpoint[] }>({
  endpoints: listOf(objectOf<Endpoint>({ id, name: text() }), ENDPOINTS_LISTED_MAX),
});

interface Waiting {
  readonly waiting: readonly { readonly detail: string }[];
}

const WAITING = objectOf<Waiting>({ waiting: listOf(objectOf({ detail: text() }), REASONS_MAX) });

/** @throws as `get`, or an error that says what was answered in place of hosts */
export const probeHosts = async (access: FleetAccess): Promise<readonly HostAnswer[]> =>
  (await ask<{ readonly hosts: readonly HostAnswer[] }>(access, '/v2/hosts', HOST_LIST)).hosts;

/** The endpoints of the key's account, the first 100 of them with what their workers wait for. @throws as `probeHosts` */
export async function probeEndpoints(
  access: FleetAccess,
): Promise<{ readonly endpoints: readonly EndpointPlace[]; readonly total: number }> {
  const { endpoints } = await ask<{ readonly endpoints: readonly Endpoint[] }>(access, '/v2/serverless', ENDPOINT_LIST);
  const asked = await inParallel(endpoints.slice(0, ENDPOINTS_ASKED_MAX), AT_ONCE, async (endpoint) => {
    const path = `/v2/serverless/${encodeURIComponent(endpoint.id)}/workers`;
    const { waiting } = await ask<Waiting>(access, path, WAITING);
    return { ...endpoint, waitsBecause: waiting[0]?.detail ?? null };
  });
  return { endpoints: asked, total: endpoints.length };
}

const OK = 200;
const REFUSED: readonly number[] = [401, 403];

/** The key is not one that may ask this. */
export class KeyRefusedError extends Error {}

async function ask<Answer>({ apiKey, baseUrl }: FleetAccess, path: string, shape: Shape): Promise<Answer> {
  const answer = await get(`${baseUrl.replace(/\/+$/, '')}${path}`, apiKey);
  if (REFUSED.includes(answer.status)) throw new KeyRefusedError(`${path} answers ${String(answer.status)}`);
  if (answer.status !== OK) throw new Error(`${path} answers ${String(answer.status)}`);
  const reading = readShape<Answer>(shape, JSON.parse(answer.text));
  if (reading.kind === 'unreadable') throw new Error(`the answer of ${path} cannot be read: ${reading.reason}`);
  return reading.value;
}
