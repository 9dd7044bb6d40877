import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ReleaseListBody } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { ReleasesService } from './releases-service.js';

@ApiTags('Releases')
@Controller('v2/serverless/:id/releases')
export class ReleasesController {
  readonly #releases: ReleasesService;

  constructor(releases: ReleasesService) {
    this.#releases = releases;
  }

  @Get()
  @RequireScope('serverless:read')
  @ApiOperation({
    summary: 'List the releases of an endpoint',
    description:
      'Each change of what workers are made of is a release, the create the first. `rollout` tells how many of the present workers run the latest.',
  })
  @ApiOkResponse({ type: ReleaseListBody })
  @ApiProblems('endpoint-not-found')
  list(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<ReleaseListBody> {
    return this.#releases.list(caller, id);
  }
}
