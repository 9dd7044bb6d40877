import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CreateEndpointDto, EndpointBody, EndpointListBody, UpdateEndpointDto } from '@berth/contracts/http';
import { HardwareCatalog, type Endpoint, type EndpointId, type PublicAddresses } from '@berth/domain';
import {
  ApiProblems,
  CurrentCaller,
  Idempotent,
  IfMatch,
  RequireScope,
  VersionedAnswer,
  VersionedAnswers,
  type Caller,
  type VersionMatch,
} from '@berth/http';
import { toEndpointBody, toEndpointChange, requestOfEndpoint } from './endpoint.mapper.js';
import { EndpointsService } from './endpoints-service.js';

const NO_CONTENT = 204;
/** Of every request that names templates, registries and volumes. */
const REFERENCE_PROBLEMS = [
  'rule-conflict',
  'template-not-found',
  'template-not-serverless',
  'registry-not-found',
  'network-volume-not-found',
] as const;
const CREATE_DESCRIPTION = [
  'The endpoint takes jobs at once; workers come on demand, unless `workers.min` asks for some before.',
  '',
  'Checks, the first group that fails answers with everything that fails in it: malformed JSON or no object 400; the',
  'schema 422; rules between fields 400; pools, types and flavors of the catalog 400; template, registry and volumes 404;',
  'places of the volumes 400; as many endpoints as the account may have 429.',
].join('\n');
const UPDATE_DESCRIPTION = [
  'What is absent stays. `name`, `workers`, `scaling` and `timeout` apply at once. A change of `image`, `args`, `disk`, `env`,',
  '`ports`, `registry` (also by `templateId`), `gpu`, `cpu`, `dataCenterIds`, `networkVolumes` or `flashboot` makes one release:',
  'idle workers of the old one are replaced at once, busy ones after their job, never more than `workers.max` together. A',
  'request that changes nothing, `{}` too, is 200 and makes neither a release nor a new version.',
  '',
  '- `env` replaces the whole map; with `templateId` it is laid over the template’s by key first. `{}` empties it.',
  '- `registry: null` removes it. No other field takes null.',
  '- `templateId` applies once: image, args, disk, ports, env and registry become the template’s, under the body’s own.',
  '- `gpu`: every member is optional. `pools` alone clears `excludedTypes`, which never come without `pools` (422).',
  '  `allowedCudaVersions: []` and `minCudaVersion: ""` clear; setting one while the other is stored is 400.',
  '- `cpu`, `dataCenterIds`, `networkVolumes`, `ports` replace the whole list; `workers` each member.',
  '- `type` and the kind of compute stay: `gpu` on a CPU endpoint, `cpu` on a GPU endpoint 400.',
  '- Another `scaling` takes the idle timeout away or brings it back (as said, else its default).',
].join('\n');

/** Injection token of the `PublicAddresses` under which this installation is reached. */
export const PUBLIC_ADDRESSES = Symbol('PublicAddresses');

@ApiTags('Endpoints')
@Controller('v2/serverless')
@VersionedAnswers()
export class EndpointsController {
  readonly #endpoints: EndpointsService;
  readonly #addresses: PublicAddresses;
  readonly #catalog: HardwareCatalog;

  constructor(
    endpoints: EndpointsService,
    @Inject(PUBLIC_ADDRESSES) addresses: PublicAddresses,
    catalog: HardwareCatalog,
  ) {
    this.#endpoints = endpoints;
    this.#addresses = addresses;
    this.#catalog = catalog;
  }

  @Post()
  @Idempotent()
  @RequireScope('serverless:write')
  @ApiOperation({ summary: 'Create an endpoint', description: CREATE_DESCRIPTION })
  @ApiCreatedResponse({ type: EndpointBody })
  @ApiProblems('limit-reached', ...REFERENCE_PROBLEMS)
  async create(
    @CurrentCaller() caller: Caller,
    @Body() dto: CreateEndpointDto,
  ): Promise<VersionedAnswer<EndpointBody>> {
    return this.#answer(await this.#endpoints.create(caller, requestOfEndpoint(dto)));
  }

  @Get()
  @RequireScope('serverless:read')
  @ApiOperation({ summary: 'List the endpoints of the account', description: 'Those alone that the key reaches.' })
  @ApiOkResponse({ type: EndpointListBody })
  async list(@CurrentCaller() caller: Caller): Promise<EndpointListBody> {
    const endpoints = await this.#endpoints.list(caller);
    return { endpoints: endpoints.map((endpoint) => this.#bodyOf(endpoint)) };
  }

  @Get(':id')
  @RequireScope('serverless:read')
  @ApiOperation({ summary: 'Read an endpoint', description: '304 where `If-None-Match` names the present version.' })
  @ApiOkResponse({ type: EndpointBody })
  @ApiProblems('endpoint-not-found')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<VersionedAnswer<EndpointBody>> {
    return this.#answer(await this.#endpoints.get(caller, id));
  }

  @Patch(':id')
  @RequireScope('serverless:write')
  @ApiOperation({ summary: 'Change an endpoint', description: UPDATE_DESCRIPTION })
  @ApiOkResponse({ type: EndpointBody })
  @ApiProblems('endpoint-not-found', ...REFERENCE_PROBLEMS)
  // eslint-disable-next-line no-restricted-syntax -- decorators name what each parameter is, and Nest fills it by them
  async update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: EndpointId,
    @IfMatch() expected: VersionMatch | null,
    @Body() dto: UpdateEndpointDto,
  ): Promise<VersionedAnswer<EndpointBody>> {
    return this.#answer(await this.#endpoints.update(caller, id, { change: toEndpointChange(dto), expected }));
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @RequireScope('serverless:write')
  @ApiOperation({
    summary: 'Delete an endpoint',
    description:
      'Its workers are ended, its queued and running jobs cancelled, its registry and volumes set free; the template that it was made from stays. Every process honours it within 2 s.',
  })
  @ApiNoContentResponse()
  @ApiProblems('endpoint-not-found')
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('id') id: EndpointId,
    @IfMatch() expected: VersionMatch | null,
  ): Promise<void> {
    await this.#endpoints.delete(caller, id, expected);
  }

  #answer(endpoint: Endpoint): VersionedAnswer<EndpointBody> {
    return new VersionedAnswer(this.#bodyOf(endpoint), endpoint.version);
  }

  #bodyOf(endpoint: Endpoint): EndpointBody {
    return toEndpointBody(endpoint, this.#addresses, this.#catalog);
  }
}
