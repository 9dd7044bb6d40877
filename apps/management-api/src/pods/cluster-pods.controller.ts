import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ClusterPodListBody } from '@berth/contracts/http';
import type { ClusterId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { PodsService } from './pods-service.js';

@ApiTags('Clusters')
@Controller('v2/clusters/:id/pods')
export class ClusterPodsController {
  readonly #pods: PodsService;

  constructor(pods: PodsService) {
    this.#pods = pods;
  }

  @Get()
  @RequireScope('clusters:read')
  @ApiOperation({
    summary: 'List the pods of a cluster',
    description: 'Whole; the cluster itself has their number only.',
  })
  @ApiOkResponse({ type: ClusterPodListBody })
  @ApiProblems('cluster-not-found')
  async list(@CurrentCaller() caller: Caller, @Param('id') id: ClusterId): Promise<ClusterPodListBody> {
    return { pods: await this.#pods.ofCluster(caller, id) };
  }
}
