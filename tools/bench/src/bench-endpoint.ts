import type { TenantClient } from '@berth/dev-stack';

export interface BenchEndpoint {
  readonly workers: { readonly min: number; readonly max: number; readonly idleTimeout?: number };
  readonly flashboot?: string;
  /** By the number of requests where absent. */
  readonly scaling?: { readonly type: 'QUEUE_DELAY'; readonly queueDelay: number };
  /** `local/node-echo` where absent. */
  readonly image?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** An endpoint of workers of one of the images that the stack has. Returns its id. */
export async function createEndpoint(client: TenantClient, name: string, more: BenchEndpoint): Promise<string> {
  const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name,
    type: 'QUEUE',
    image: 'local/node-echo',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    ...more,
  });
  if (status !== 201) throw new Error(`the endpoint was not created: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

export const headersOf = (apiKey: string): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${apiKey}`,
  'content-type': 'application/json',
});
