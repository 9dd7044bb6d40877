import { join, resolve } from 'node:path';
import { StartedStack, TenantClient } from '@berth/dev-stack';
import type { EndpointId } from '@berth/domain';
import type { AttackTarget } from './attack.js';
import { Victim } from './victim.js';

const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const VICTIM_WORKERS = 4;
const HOSTILE_WORKERS = 3;

/** A stack of its own with a victim and an attacker on it: two accounts whose workers share one host. */
export class Battlefield {
  constructor(
    readonly stack: StartedStack,
    readonly victim: Victim,
    readonly target: AttackTarget,
  ) {}

  async clear(): Promise<void> {
    await this.victim.close();
    await this.stack.stop();
    await this.stack.remove();
  }
}

export async function prepareBattlefield(): Promise<Battlefield> {
  const stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off']);
  try {
    return await populate(stack);
  } catch (error) {
    await stack.stop();
    await stack.remove();
    throw error;
  }
}

async function populate(stack: StartedStack): Promise<Battlefield> {
  const { apiKey, baseUrl, natsUrl, runUrl } = stack.dev;
  const operator = new TenantClient(() => stack.dev);
  const victimEndpointId = await createEndpoint(operator, 'echo', VICTIM_WORKERS);
  const { body: account } = await operator.manage<{ apiKey: { key: string } }>('POST', '/v2/accounts', { name: 'foe' });
  const foe = new TenantClient(() => ({ ...stack.dev, apiKey: account.apiKey.key }));
  const tenant = { apiKey: account.apiKey.key, endpointId: await createEndpoint(foe, 'hostile', HOSTILE_WORKERS) };
  const { body: host } = await operator.manage<{ token: string }>('POST', '/v2/hosts/join-tokens', { name: 'stolen' });
  const victim = new Victim({ runUrl, apiKey, endpointId: victimEndpointId });
  const target = { baseUrl, runUrl, natsUrl, victimEndpointId, tenant, joinToken: host.token };
  return new Battlefield(stack, victim, target);
}

async function createEndpoint(client: TenantClient, image: string, workers: number): Promise<EndpointId> {
  const { body, status } = await client.manage<{ id: EndpointId }>('POST', '/v2/serverless', {
    name: image,
    type: 'QUEUE',
    image: `local/${image}`,
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: workers, max: workers },
  });
  if (status !== 201) throw new Error(`the endpoint was not created: ${status} ${JSON.stringify(body)}`);
  return body.id;
}
