import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { PodQueryDto, PodBody, PodListBody } from '@berth/contracts/http';
import type { PodId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { PodsService } from './pods-service.js';

@ApiTags('Pods')
@Controller('v2/pods')
@RequireScope('clusters:read')
export class PodsController {
  readonly #pods: PodsService;

  constructor(pods: PodsService) {
    this.#pods = pods;
  }

  @Get()
  @ApiOperation({
    summary: 'List the pods of the account',
    description: 'Pods of clusters are left out unless `includeClusterPods` is true.',
  })
  @ApiOkResponse({ type: PodListBody })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() { includeClusterPods = false }: PodQueryDto,
  ): Promise<PodListBody> {
    return { pods: await this.#pods.list(caller, { includesClusterPods: includeClusterPods }) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a pod', description: 'Also one of a cluster.' })
  @ApiOkResponse({ type: PodBody })
  @ApiProblems('pod-not-found')
  get(@CurrentCaller() caller: Caller, @Param('id') id: PodId): Promise<PodBody> {
    return this.#pods.get(caller, id);
  }
}
