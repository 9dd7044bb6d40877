import {
  PlatformError,
  canSee,
  checkEndpointReferences,
  checkEndpointRules,
  describeFailures,
  type Endpoint,
  type EndpointId,
  type EndpointSpec,
  type FieldFailure,
} from '@berth/domain';
import type { Caller } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import type { ControlSnapshots } from '../snapshots/control-snapshots.port.js';
import type { CreateEndpointDto } from './create-endpoint.dto.js';
import { toDraft, toEndpointSpec } from './endpoint.mapper.js';
import type { EndpointRecords } from './endpoint-records.port.js';

export interface EndpointsServiceOptions {
  readonly records: EndpointRecords;
  readonly snapshots: ControlSnapshots;
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

  /** @throws PlatformError `rule-conflict`, `template-not-found`, `registry-not-found`, `network-volume-not-found` */
  async create(caller: Caller, dto: CreateEndpointDto): Promise<Endpoint> {
    const { clock, random, records, snapshots } = this.#options;
    if (caller.endpointIds !== null) {
      throw new PlatformError('scope-missing', 'access denied: a key limited to some endpoints cannot create others');
    }
    const endpoint: Endpoint = {
      id: random.id(ID_LENGTH) as EndpointId,
      accountId: caller.accountId,
      spec: checkedSpec(dto),
      release: 1,
      createdAtMs: clock.nowMs(),
    };
    await records.insert(endpoint, () => snapshots.putEndpoint(endpoint));
    snapshots.announce(endpoint.id);
    return endpoint;
  }

  async list(caller: Caller): Promise<readonly Endpoint[]> {
    const endpoints = await this.#options.records.list(caller.accountId);
    return endpoints.filter(({ id }) => canSee(caller, id));
  }

  /** @throws PlatformError `endpoint-not-found`, `scope-missing` when the key does not reach it */
  async get(caller: Caller, id: EndpointId): Promise<Endpoint> {
    const endpoint = await this.#options.records.find(caller.accountId, id);
    if (endpoint === null) throw new PlatformError('endpoint-not-found', 'No such endpoint.');
    if (!canSee(caller, id)) throw new PlatformError('scope-missing', `access denied: the key does not reach ${id}`);
    return endpoint;
  }

  /** From then on the endpoint is not found anywhere. @throws as `get` */
  async delete(caller: Caller, id: EndpointId): Promise<void> {
    const { clock, records, snapshots } = this.#options;
    await this.get(caller, id);
    const nowMs = clock.nowMs();
    const wasThere = await records.delete({ accountId: caller.accountId, id }, nowMs, (endpoint) =>
      snapshots.putDeletedEndpoint(endpoint, nowMs),
    );
    if (!wasThere) throw new PlatformError('endpoint-not-found', 'No such endpoint.');
    snapshots.announce(id);
  }
}

/** Rules between fields, then catalogs, then what the body refers to: the first group that fails answers. */
function checkedSpec(dto: CreateEndpointDto): EndpointSpec {
  const draft = toDraft(dto);
  refuse(checkEndpointRules(draft));
  refuse(checkEndpointReferences(draft));
  refuseUnknownReferences(dto);
  return toEndpointSpec(dto, draft);
}

function refuse(failures: readonly FieldFailure[]): void {
  const errors = describeFailures(failures);
  const [first] = errors;
  if (first !== undefined)
    throw new PlatformError('rule-conflict', `The fields contradict each other: ${first}.`, { errors });
}

/** None of the three can be created yet, so every id is unknown. */
function refuseUnknownReferences({ networkVolumes = [], registry, templateId }: CreateEndpointDto): void {
  if (templateId !== undefined) throw new PlatformError('template-not-found', `No template ${templateId}.`);
  if (registry !== undefined && registry !== null) {
    throw new PlatformError('registry-not-found', `No container registry ${registry}.`);
  }
  const [volume] = networkVolumes;
  if (volume !== undefined) throw new PlatformError('network-volume-not-found', `No network volume ${volume}.`);
}
