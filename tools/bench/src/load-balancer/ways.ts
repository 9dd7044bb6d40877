import { join } from 'node:path';
import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { CommandError, pollUntil } from '@berth/servers';
import { request } from 'undici';
import { print } from '../figures.js';
import { AGENT } from '../peers/processor-time.js';
import { startReference } from '../reference.js';
import { findNginx, startNginx, type Nginx } from './nginx.js';

/** One of those that are compared: what a caller may go through to the same worker. */
export interface Way {
  readonly name: string;
  /** Requests go to these in equal shares. */
  readonly origins: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  /** Whose processor time it takes, but for the worker's and the callers'. */
  readonly processes: ReadonlyMap<string, readonly number[]>;
}

export interface Ways {
  readonly all: readonly Way[];
  stop(): Promise<void>;
}

export const DIRECT = 'direct';
export const NGINX_KEPT = 'nginx, connections kept';
export const NGINX_FRESH = 'nginx, one each';
export const BARE = 'bare tunnel of node:http2';
const BERTH = 'Berth';
const BERTH_TWO = 'Berth, two routers';

const UP_WITHIN_MS = 60_000;
/** As many as come at one time from two routers, and some more. */
const SLOTS = 128;

/** A worker of an endpoint of the stack, and all ways to it. */
export async function openWays(stack: StartedStack): Promise<Ways> {
  const endpointId = await createBalanced(stack);
  const { apiKey, agents, loadBalancerDomain, routers } = stack.dev;
  const headers = { host: `${endpointId}.${loadBalancerDomain}`, authorization: `Bearer ${apiKey}` };
  const [first = ''] = routers.map(({ runUrl }) => runUrl);
  const port = await portOfWorker(first, headers);
  const direct = `http://127.0.0.1:${port}`;
  const nginx = await nginxTo(direct);
  const bare = await startReference(join('load-balancer', 'tunnel-front-reference.js'), [port]);
  const way = (name: string, origins: readonly string[], processes: Way['processes'] = new Map()): Way => ({
    ...{ name, origins, processes, headers: {} },
  });
  const through = (name: string, used: typeof routers): Way => ({
    ...{ name, origins: used.map(({ runUrl }) => runUrl), headers },
    processes: new Map([
      ['job-router', used.map(({ pid }) => pid)],
      [AGENT, agents.map(({ pid }) => pid)],
    ]),
  });
  const ofNginx = new Map([['nginx', nginx === null ? [] : [nginx.pid]]]);
  return {
    all: [
      way(DIRECT, [direct]),
      ...(nginx === null ? [] : [way(NGINX_KEPT, [nginx.keptOrigin], ofNginx)]),
      ...(nginx === null ? [] : [way(NGINX_FRESH, [nginx.freshOrigin], ofNginx)]),
      way(BARE, [bare.address], new Map([['both sides', [bare.pid]]])),
      through(BERTH, routers.slice(0, 1)),
      through(BERTH_TWO, routers),
    ],
    stop: async () => {
      await bare.stop();
      await nginx?.stop();
    },
  };
}

async function createBalanced(stack: StartedStack): Promise<string> {
  const client = new TenantClient(() => stack.dev, UP_WITHIN_MS);
  const { body, status } = await client.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name: 'bench-web', type: 'LOAD_BALANCER', image: 'local/web', workers: { min: 1, max: 1 } },
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: SLOTS },
    env: { WS_MODULE: import.meta.resolve('ws') },
  });
  if (status !== 201) throw new Error(`the endpoint was not created: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** The first request waits at the router until the worker is up. */
function portOfWorker(origin: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const ask = async (): Promise<string | undefined> => {
    const { body, statusCode } = await request(`${origin}/port`, { headers });
    const text = await body.text();
    return statusCode === 200 ? text : undefined;
  };
  return pollUntil(ask, { what: 'the worker', deadlineMs: UP_WITHIN_MS });
}

/** Null, and said why, where there is none. */
async function nginxTo(origin: string): Promise<Nginx | null> {
  try {
    return await startNginx(await findNginx(), origin);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    print(`  nginx is left out: it is not on PATH, and could not be fetched: ${error.message}`);
    return null;
  }
}
