import type { Scope } from '@berth/domain';
import type { Resource, Tenant } from './tenant.js';

/** What the contract says of one operation. Written by hand on purpose: it is what the code is compared with. */
export interface Route {
  /** Null: open to everybody. */
  readonly scope: Scope | null;
  /** Status of a call that is in order. */
  readonly success: number;
  /** What the ids in the path are of. */
  readonly ids?: Readonly<Record<string, Resource>>;
  /** A body that is in order. */
  readonly body?: (tenant: Tenant) => object;
  /** Ids in the body, by their paths; `[]` stands for the first item of a list. */
  readonly references?: Readonly<Record<string, Resource>>;
  /** The call ends what it is about. */
  readonly isLast?: boolean;
  /** A key that is limited to some endpoints may not, whichever they are: 403. */
  readonly isClosedToLimited?: boolean;
}

const ENDPOINT_REFERENCES = {
  templateId: 'template',
  registry: 'registry',
  'networkVolumes[]': 'network volume',
} as const;

export const ROUTES: Readonly<Record<string, Route>> = {
  // Endpoints
  'GET /v2/serverless': { scope: 'serverless:read', success: 200 },
  'POST /v2/serverless': {
    scope: 'serverless:write',
    success: 201,
    body: (tenant) => tenant.endpointBody(),
    references: ENDPOINT_REFERENCES,
    isClosedToLimited: true,
  },
  'POST /v1/endpoints': {
    scope: 'serverless:write',
    success: 201,
    body: (tenant) => ({ name: 'older', templateId: tenant.id('template'), cpuFlavorIds: ['cpu3c'] }),
    references: {
      templateId: 'template',
      networkVolumeId: 'network volume',
      'networkVolumeIds[]': 'network volume',
    },
    isClosedToLimited: true,
  },
  'GET /v2/serverless/{id}': { scope: 'serverless:read', success: 200, ids: { id: 'endpoint' } },
  'PATCH /v2/serverless/{id}': {
    scope: 'serverless:write',
    success: 200,
    ids: { id: 'endpoint' },
    body: () => ({ workers: { max: 2 } }),
    references: ENDPOINT_REFERENCES,
  },
  'DELETE /v2/serverless/{id}': { scope: 'serverless:write', success: 204, ids: { id: 'endpoint' }, isLast: true },
  'GET /v2/serverless/{id}/releases': { scope: 'serverless:read', success: 200, ids: { id: 'endpoint' } },
  'GET /v2/serverless/{id}/webhook-secrets': { scope: 'serverless:write', success: 200, ids: { id: 'endpoint' } },
  'POST /v2/serverless/{id}/webhook-secrets/rotate': {
    scope: 'serverless:write',
    success: 200,
    ids: { id: 'endpoint' },
  },
  'GET /v2/serverless/{id}/scaling': { scope: 'serverless:read', success: 200, ids: { id: 'endpoint' } },
  'GET /v2/serverless/{id}/logs': { scope: 'serverless:read', success: 200, ids: { id: 'endpoint' } },
  'GET /v2/serverless/{id}/workers/{workerId}/logs': {
    scope: 'serverless:read',
    success: 200,
    ids: { id: 'endpoint', workerId: 'worker' },
  },
  'GET /v2/serverless/{id}/workers': { scope: 'serverless:read', success: 200, ids: { id: 'endpoint' } },
  'POST /v2/serverless/{id}/workers/{workerId}/action': {
    scope: 'serverless:write',
    success: 200,
    ids: { id: 'endpoint', workerId: 'worker' },
    body: () => ({ action: 'restart' }),
  },

  // Templates
  'GET /v2/templates': { scope: 'templates:read', success: 200 },
  'POST /v2/templates': {
    scope: 'templates:write',
    success: 201,
    body: (tenant) => tenant.templateBody(),
    references: { registry: 'registry' },
  },
  'GET /v2/templates/{id}': { scope: 'templates:read', success: 200, ids: { id: 'template' } },
  'PATCH /v2/templates/{id}': {
    scope: 'templates:write',
    success: 200,
    ids: { id: 'template' },
    body: () => ({ disk: 7 }),
    references: { registry: 'registry' },
  },
  'DELETE /v2/templates/{id}': { scope: 'templates:write', success: 204, ids: { id: 'template' }, isLast: true },

  // Registries
  'GET /v2/registries': { scope: 'registries:read', success: 200 },
  'POST /v2/registries': { scope: 'registries:write', success: 201, body: (tenant) => tenant.registryBody() },
  'GET /v2/registries/{id}': { scope: 'registries:read', success: 200, ids: { id: 'registry' } },
  'DELETE /v2/registries/{id}': { scope: 'registries:write', success: 204, ids: { id: 'registry' }, isLast: true },

  // Network volumes
  'GET /v2/network-volumes': { scope: 'volumes:read', success: 200 },
  'POST /v2/network-volumes': { scope: 'volumes:write', success: 201, body: (tenant) => tenant.volumeBody() },
  'GET /v2/network-volumes/{id}': { scope: 'volumes:read', success: 200, ids: { id: 'network volume' } },
  'PATCH /v2/network-volumes/{id}': {
    scope: 'volumes:write',
    success: 200,
    ids: { id: 'network volume' },
    body: () => ({ size: 20 }),
  },
  'DELETE /v2/network-volumes/{id}': {
    scope: 'volumes:write',
    success: 204,
    ids: { id: 'network volume' },
    isLast: true,
  },

  // Catalog
  'GET /v2/catalog/cpus': { scope: 'catalog:read', success: 200 },
  'GET /v2/catalog/cpus/{id}': { scope: 'catalog:read', success: 200, ids: { id: 'CPU flavor' } },
  'GET /v2/catalog/gpus': { scope: 'catalog:read', success: 200 },
  'GET /v2/catalog/gpus/{id}': { scope: 'catalog:read', success: 200, ids: { id: 'GPU type' } },
  'GET /v2/catalog/data-centers': { scope: 'catalog:read', success: 200 },
  'GET /v2/catalog/data-centers/{id}': { scope: 'catalog:read', success: 200, ids: { id: 'data center' } },
  'GET /v2/catalog/datacenters': { scope: 'catalog:read', success: 200 },
  'GET /v2/catalog/datacenters/{id}': { scope: 'catalog:read', success: 200, ids: { id: 'data center' } },
  'GET /v2/catalog/templates': { scope: 'catalog:read', success: 200 },

  // Clusters and pods
  'GET /v2/clusters': { scope: 'clusters:read', success: 200 },
  'GET /v2/clusters/{id}': { scope: 'clusters:read', success: 200, ids: { id: 'cluster' } },
  'GET /v2/clusters/{id}/pods': { scope: 'clusters:read', success: 200, ids: { id: 'cluster' } },
  'GET /v2/pods': { scope: 'clusters:read', success: 200 },
  'GET /v2/pods/{id}': { scope: 'clusters:read', success: 200, ids: { id: 'pod' } },

  // API keys
  'GET /v2/api-keys': { scope: 'keys:read', success: 200 },
  'POST /v2/api-keys': {
    scope: 'keys:write',
    success: 201,
    body: () => ({ name: 'made', scopes: ['keys:write'] }),
    references: { 'endpointIds[]': 'endpoint' },
    // Without endpoints of its own, the key that is made reaches them all.
    isClosedToLimited: true,
  },
  'DELETE /v2/api-keys/{id}': {
    scope: 'keys:write',
    success: 204,
    ids: { id: 'api key' },
    isLast: true,
    // The key of the example reaches all endpoints.
    isClosedToLimited: true,
  },

  'GET /v2/usage': { scope: 'usage:read', success: 200 },

  // The operator's part
  'GET /v2/accounts': { scope: 'admin', success: 200 },
  'POST /v2/accounts': { scope: 'admin', success: 201, body: () => ({ name: 'made' }) },
  'GET /v2/accounts/{id}': { scope: 'admin', success: 200, ids: { id: 'account' } },
  'PATCH /v2/accounts/{id}': {
    scope: 'admin',
    success: 200,
    ids: { id: 'account' },
    body: () => ({ limits: { endpoints: 2_000 } }),
  },
  'DELETE /v2/accounts/{id}': { scope: 'admin', success: 204, ids: { id: 'account' }, isLast: true },
  'GET /v2/hosts': { scope: 'admin', success: 200 },
  'POST /v2/hosts/join-tokens': { scope: 'admin', success: 201, body: () => ({ name: 'made' }) },
  'GET /v2/hosts/{id}': { scope: 'admin', success: 200, ids: { id: 'host' } },
  'POST /v2/hosts/{id}/action': {
    scope: 'admin',
    success: 200,
    ids: { id: 'host' },
    body: () => ({ action: 'cordon' }),
  },
  'DELETE /v2/hosts/{id}': { scope: 'admin', success: 204, ids: { id: 'host' }, isLast: true },
  'GET /v2/audit': { scope: 'admin', success: 200 },

  // Open to everybody
  'GET /docs/problems/{code}': { scope: null, success: 200, ids: { code: 'problem' } },
};

/** The path of a route with ids in their places; those that are not said are the tenant's own. */
export const pathOf = (route: string, idOf: (parameter: string) => string): string =>
  route.replaceAll(/\{(\w+)\}/g, (_, parameter: string) => idOf(parameter));
