import { Body, Controller, Post } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CreateV1EndpointDto, V1EndpointBody } from '@berth/contracts/http';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import { CREATE_V1_EXAMPLES } from './v1-endpoint.examples.js';
import { V1EndpointsService } from './v1-endpoints-service.js';

@ApiTags('Endpoints')
@Controller('v1/endpoints')
export class V1EndpointsController {
  readonly #endpoints: V1EndpointsService;

  constructor(endpoints: V1EndpointsService) {
    this.#endpoints = endpoints;
  }

  @Post()
  @Idempotent()
  @RequireScope('serverless:write')
  @ApiOperation({
    summary: 'Create an endpoint, older form',
    description:
      'Makes the same endpoints as `POST /v2/serverless`, queue-based and from a template. `gpuTypeIds` become the pools that hold them, with every other type of these excluded; workers are placed on the first type that has room. Problems have a `message` too, the same text as `detail`.',
  })
  @ApiBody({ type: CreateV1EndpointDto, examples: CREATE_V1_EXAMPLES })
  @ApiCreatedResponse({ type: V1EndpointBody })
  @ApiProblems(
    'limit-reached',
    'rule-conflict',
    'template-not-found',
    'template-not-serverless',
    'network-volume-not-found',
    'registry-not-found',
  )
  create(@CurrentCaller() caller: Caller, @Body() dto: CreateV1EndpointDto): Promise<V1EndpointBody> {
    return this.#endpoints.create(caller, dto);
  }
}
