import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ClusterBody, ClusterListBody } from '@berth/contracts/http';
import type { ClusterId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { toClusterBody } from './cluster.mapper.js';
import { ClustersService } from './clusters-service.js';

@ApiTags('Clusters')
@Controller('v2/clusters')
@RequireScope('clusters:read')
export class ClustersController {
  readonly #clusters: ClustersService;

  constructor(clusters: ClustersService) {
    this.#clusters = clusters;
  }

  @Get()
  @ApiOperation({ summary: 'List the clusters of the account' })
  @ApiOkResponse({ type: ClusterListBody })
  async list(@CurrentCaller() caller: Caller): Promise<ClusterListBody> {
    return { clusters: (await this.#clusters.list(caller)).map(toClusterBody) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a cluster', description: 'With the number of its pods by status.' })
  @ApiOkResponse({ type: ClusterBody })
  @ApiProblems('cluster-not-found')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: ClusterId): Promise<ClusterBody> {
    return toClusterBody(await this.#clusters.get(caller, id));
  }
}
