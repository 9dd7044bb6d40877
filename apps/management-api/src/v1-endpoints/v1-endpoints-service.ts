import type { CreateV1EndpointDto, V1EndpointBody } from '@berth/contracts/http';
import { PlatformError, type HardwareCatalog } from '@berth/domain';
import type { Caller } from '@berth/http';
import type { EndpointsService } from '../endpoints/index.js';
import { refuseConflicts } from '../references/index.js';
import { toV1Error } from './to-v1-error.js';
import { isCpu, toCompute } from './v1-compute.js';
import { requestOfV1Endpoint, toV1EndpointBody } from './v1-endpoint.mapper.js';

/** The older create form, as one more way to make the same endpoints. */
export class V1EndpointsService {
  readonly #endpoints: EndpointsService;
  readonly #catalog: HardwareCatalog;

  constructor(endpoints: EndpointsService, catalog: HardwareCatalog) {
    this.#endpoints = endpoints;
    this.#catalog = catalog;
  }

  /** @throws PlatformError as `EndpointsService.create`, in the words of this form; `invalid-fields` */
  async create(caller: Caller, dto: CreateV1EndpointDto): Promise<V1EndpointBody> {
    refuseCudaOnCpu(dto);
    const compute = toCompute(dto, this.#catalog);
    refuseConflicts(compute.failures);
    try {
      const made = await this.#endpoints.create(caller, requestOfV1Endpoint(dto, compute));
      return toV1EndpointBody(made, dto.templateId, this.#catalog);
    } catch (error) {
      throw error instanceof PlatformError ? toV1Error(error, dto) : error;
    }
  }
}

/** CUDA constraints exist for GPUs only (API decisions 3.3). */
function refuseCudaOnCpu(dto: CreateV1EndpointDto): void {
  if (!isCpu(dto)) return;
  const { allowedCudaVersions, minCudaVersion } = dto;
  const errors = Object.entries({ allowedCudaVersions, minCudaVersion })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => `$.${name}: does not go with computeType 'CPU'`);
  if (errors.length > 0)
    throw new PlatformError('invalid-fields', `Fields failed validation: ${errors[0]}`, { errors });
}
