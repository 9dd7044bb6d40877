import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { EndpointId, PublicAddresses } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { CreateEndpointDto } from './create-endpoint.dto.js';
import { EndpointBody, EndpointListBody } from './endpoint.body.js';
import { toEndpointBody } from './endpoint.mapper.js';
import { EndpointsService } from './endpoints.service.js';
import { PUBLIC_ADDRESSES } from './public-addresses.port.js';

const NO_CONTENT = 204;
const CREATE_DESCRIPTION = [
  'The endpoint takes jobs at once; workers come on demand, unless `workers.min` asks for some before.',
  '',
  'Checks, the first group that fails answers: malformed JSON or no object 400; the schema, every failure in one answer,',
  '422; rules between fields 400; pools and flavors of the catalog 400; templates, registries and volumes 404.',
].join('\n');

@ApiTags('Endpoints')
@Controller('v2/serverless')
export class EndpointsController {
  readonly #endpoints: EndpointsService;
  readonly #addresses: PublicAddresses;

  constructor(endpoints: EndpointsService, @Inject(PUBLIC_ADDRESSES) addresses: PublicAddresses) {
    this.#endpoints = endpoints;
    this.#addresses = addresses;
  }

  @Post()
  @RequireScope('serverless:write')
  @ApiOperation({ summary: 'Create an endpoint', description: CREATE_DESCRIPTION })
  @ApiCreatedResponse({ type: EndpointBody })
  @ApiProblems(400, 401, 403, 404, 413, 415, 422, 503)
  async create(@CurrentCaller() caller: Caller, @Body() dto: CreateEndpointDto): Promise<EndpointBody> {
    return toEndpointBody(await this.#endpoints.create(caller, dto), this.#addresses);
  }

  @Get()
  @RequireScope('serverless:read')
  @ApiOperation({ summary: 'List the endpoints of the account' })
  @ApiOkResponse({ type: EndpointListBody })
  @ApiProblems(401, 403, 503)
  async list(@CurrentCaller() caller: Caller): Promise<EndpointListBody> {
    const endpoints = await this.#endpoints.list(caller);
    return { endpoints: endpoints.map((endpoint) => toEndpointBody(endpoint, this.#addresses)) };
  }

  @Get(':id')
  @RequireScope('serverless:read')
  @ApiOperation({ summary: 'Read an endpoint' })
  @ApiOkResponse({ type: EndpointBody })
  @ApiProblems(401, 403, 404, 503)
  async get(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<EndpointBody> {
    return toEndpointBody(await this.#endpoints.get(caller, id), this.#addresses);
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @RequireScope('serverless:write')
  @ApiOperation({
    summary: 'Delete an endpoint',
    description: 'Its workers are ended, its queued and running jobs cancelled. Every process honours it within 2 s.',
  })
  @ApiNoContentResponse()
  @ApiProblems(401, 403, 404, 503)
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<void> {
    await this.#endpoints.delete(caller, id);
  }
}
