import {
  PlatformError,
  canSee,
  checkCatalogs,
  checkEndpointRules,
  endpointFields,
  fieldChanges,
  patchEndpoint,
  resolveWorkerRange,
  type Endpoint,
  type EndpointId,
  type EndpointPatch,
  type EndpointSpec,
  type HardwareCatalog,
  type PatchedEndpoint,
} from '@berth/domain';
import { requireVersion, type Caller, type VersionMatch } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { AccountUseStore } from '../accounts/index.js';
import type { AuditStore } from '../audit/index.js';
import type { ControlSnapshots } from '../snapshots/index.js';
import type { Transactions } from '../persistence/index.js';
import type { EndpointsStore, NewRelease } from './endpoints.store.js';
import { type EndpointReferences, refuseConflicts } from '../references/index.js';
import type { EndpointChange, EndpointRequest } from './endpoint-request.js';

export interface EndpointsServiceOptions {
  readonly catalog: HardwareCatalog;
  readonly records: EndpointsStore;
  readonly references: EndpointReferences;
  readonly use: AccountUseStore;
  readonly transactions: Transactions;
  readonly audit: AuditStore;
  readonly snapshots: ControlSnapshots;
  /** Gives a new endpoint its first secret, in the transaction that makes it. */
  readonly webhookSecrets: { begin(id: EndpointId): Promise<void> };
  readonly clock: Clock;
  readonly random: Random;
}

const ID_LENGTH = 14;

/** Endpoints of the caller's account. */
export class EndpointsService {
  readonly #options: EndpointsServiceOptions;

  constructor(options: EndpointsServiceOptions) {
    this.#options = options;
  }

  /**
   * Rules between fields, then catalogs, then what the request refers to: the first group that fails answers.
   *
   * @throws PlatformError `scope-missing`, `rule-conflict`, `limit-reached`, and as `EndpointReferences.resolve`
   */
  async create(caller: Caller, request: EndpointRequest): Promise<Endpoint> {
    const { audit, catalog, clock, random, records, snapshots, transactions, use, webhookSecrets } = this.#options;
    if (caller.endpointIds !== null) {
      throw new PlatformError('scope-missing', 'access denied: a key limited to some endpoints cannot create others');
    }
    refuseConflicts(checkEndpointRules(request.draft));
    refuseConflicts(checkCatalogs(request.draft, catalog));
    const endpoint = await transactions.run(async () => {
      const made: Endpoint = {
        id: random.id(ID_LENGTH) as EndpointId,
        accountId: caller.accountId,
        spec: await this.#newSpec(caller, request),
        release: 1,
        version: 1,
        createdAtMs: clock.nowMs(),
      };
      await records.insert(made, this.#newRelease(caller, []));
      const diff = fieldChanges({}, endpointFields(made.spec, catalog));
      await audit.append({ caller, action: 'endpoint.created', resourceId: made.id, diff });
      await Promise.all([webhookSecrets.begin(made.id), snapshots.endpointsChanged([made.id])]);
      // The last thing before the commit: from here on the creates of one account wait for one another.
      await use.requireWithin(caller.accountId, 'endpoints');
      return made;
    });
    snapshots.announce(endpoint.id);
    return endpoint;
  }

  async list(caller: Caller): Promise<readonly Endpoint[]> {
    const endpoints = await this.#options.records.list(caller.accountId);
    return endpoints.filter(({ id }) => canSee(caller, id));
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` when the key does not reach it */
  async get(caller: Caller, id: EndpointId): Promise<Endpoint> {
    return reached(caller, await this.#options.records.find(caller.accountId, id));
  }

  /**
   * Changes what the request names; what does not really change leaves no trace. One release where workers are made of
   * what has changed.
   *
   * @param expected null: whatever version it is in
   * @throws PlatformError as `get` and `create`; `precondition-failed` when it is in another version
   */
  async update(
    caller: Caller,
    id: EndpointId,
    { change, expected }: { readonly change: EndpointChange; readonly expected: VersionMatch | null },
  ): Promise<Endpoint> {
    const { audit, records, snapshots, transactions } = this.#options;
    const { hasChanged, endpoint } = await transactions.run(async () => {
      const before = await this.#lock(caller, id, expected);
      const { diff, releaseDiff, spec } = await this.#patched(caller, before, change);
      if (diff.length === 0) return { hasChanged: false, endpoint: before };
      const isRelease = releaseDiff.length > 0;
      const after = { ...before, spec, version: before.version + 1, release: before.release + (isRelease ? 1 : 0) };
      await records.update(after, isRelease ? this.#newRelease(caller, releaseDiff) : null);
      await audit.append({ caller, action: 'endpoint.updated', resourceId: id, diff });
      await snapshots.endpointsChanged([id]);
      return { hasChanged: true, endpoint: after };
    });
    if (hasChanged) snapshots.announce(id);
    return endpoint;
  }

  /** From then on the endpoint is not found anywhere. @throws as `get`; `precondition-failed` */
  async delete(caller: Caller, id: EndpointId, expected: VersionMatch | null): Promise<void> {
    const { audit, clock, records, snapshots, transactions } = this.#options;
    await transactions.run(async () => {
      await this.#lock(caller, id, expected);
      await records.delete(caller.accountId, id, clock.nowMs());
      await audit.append({ caller, action: 'endpoint.deleted', resourceId: id, diff: [] });
      await Promise.all([snapshots.endpointsChanged([id]), snapshots.webhookSecretsChanged([id])]);
    });
    snapshots.announce(id);
  }

  async #lock(caller: Caller, id: EndpointId, expected: VersionMatch | null): Promise<Endpoint> {
    const endpoint = reached(caller, await this.#options.records.lock(caller.accountId, id));
    requireVersion(expected, endpoint.version);
    return endpoint;
  }

  async #newSpec(caller: Caller, request: EndpointRequest): Promise<EndpointSpec> {
    const { draft, settings } = request;
    const applied = await this.#options.references.resolve(caller, request, settings);
    const allowedCudaVersions = [...new Set(applied.allowedCudaVersions)];
    return {
      ...settings,
      type: draft.type,
      container: applied.container,
      scaling: draft.scaling,
      workers: resolveWorkerRange(draft, draft.workers),
      gpu: draft.gpu === null ? null : { ...draft.gpu, allowedCudaVersions },
      cpu: draft.cpu,
    };
  }

  /** The rules look at what the request says itself: a template decides nothing but the container. */
  async #patched(caller: Caller, { spec }: Endpoint, change: EndpointChange): Promise<Patched> {
    const { overrides, patch, templateId } = change;
    const { catalog } = this.#options;
    const { dataCenterIds, networkVolumeIds } = requirePatched(spec, { ...patch, container: overrides }, catalog).spec;
    const arePlacesSaid = patch.dataCenterIds !== undefined || patch.networkVolumeIds !== undefined;
    const places = arePlacesSaid ? { dataCenterIds, networkVolumeIds } : null;
    const applied = await this.#options.references.resolve(caller, change, places);
    const container = templateId === undefined ? overrides : applied.container;
    return requirePatched(spec, { ...patch, container }, catalog);
  }

  #newRelease(caller: Caller, diff: NewRelease['diff']): NewRelease {
    return { diff, createdBy: caller.keyId, createdAtMs: this.#options.clock.nowMs() };
  }
}

type Patched = Extract<PatchedEndpoint, { kind: 'patched' }>;

function requirePatched(spec: EndpointSpec, patch: EndpointPatch, catalog: HardwareCatalog): Patched {
  const patched = patchEndpoint(spec, patch, catalog);
  if (patched.kind === 'patched') return patched;
  refuseConflicts(patched.failures);
  throw new Error('a patch was refused without a reason');
}

function reached(caller: Caller, endpoint: Endpoint | null): Endpoint {
  if (endpoint === null) throw new PlatformError('endpoint-not-found', 'No such endpoint.');
  if (canSee(caller, endpoint.id)) return endpoint;
  throw new PlatformError('scope-missing', `access denied: the key does not reach ${endpoint.id}`);
}
