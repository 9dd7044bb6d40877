import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { createEndpoint, headersOf } from '../bench-endpoint.js';
import { RUNNING, WORKERS, type Contender } from './contender.js';
import { AGENT, WORKERS_NAME } from './processor-time.js';

export interface BerthOptions {
  readonly name: string;
  readonly endpoints: number;
  /** By what the workers call. */
  readonly client: 'http' | 'fetch';
}

/** A stack of Berth, with endpoints of its own for these jobs; each endpoint has a share of the workers' slots. */
export async function berth(
  stack: StartedStack,
  { client: workersClient, endpoints, name }: BerthOptions,
): Promise<Contender> {
  const client = new TenantClient(() => stack.dev);
  const workers = endpoints === 1 ? WORKERS : 1;
  const ids: string[] = [];
  for (let at = 0; at < endpoints; at += 1) {
    ids.push(
      await createEndpoint(client, `bench-${workersClient}-${at}`, {
        image: 'local/echo',
        workers: { min: workers, max: workers },
        env: { ECHO_SLOTS: String(RUNNING / (workers * endpoints)), ECHO_CLIENT: workersClient },
      }),
    );
  }
  const { apiKey, routers } = stack.dev;
  const headers = headersOf(apiKey);
  return {
    name,
    targets: ids.flatMap((id) => routers.map(({ runUrl }) => ({ origin: runUrl, path: `/v2/${id}/run`, headers }))),
    processes: processesOf(stack),
    completed: ids.map((id) => async () => {
      const { body } = await client.job<{ jobs: { completed: number } }>('GET', `/${id}/health`);
      return body.jobs.completed;
    }),
    stop: async () => {
      for (const id of ids) await client.manage('DELETE', `/v2/serverless/${id}`);
    },
  };
}

/** Of a stack, by what they are. */
export function processesOf(stack: StartedStack): ReadonlyMap<string, readonly number[]> {
  const { routers } = stack.dev;
  const named = ['nats-server', 'postgres', 'controllers', 'management-api', AGENT] as const;
  return new Map<string, readonly number[]>([
    ...named.map((name) => [name, [stack.pidOf(name)]] as const),
    ['job-router', routers.map(({ pid }) => pid)],
    [WORKERS_NAME, []],
  ]);
}
