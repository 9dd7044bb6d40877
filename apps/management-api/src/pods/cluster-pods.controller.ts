import { Controller, Get, Inject, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { ClusterId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import { CLOCK } from '../clock.port.js';
import { ClusterPodListBody } from './pod.body.js';
import { toPodBody } from './pod.mapper.js';
import { PodsService } from './pods-service.js';

@ApiTags('Clusters')
@Controller('v2/clusters/:id/pods')
export class ClusterPodsController {
  readonly #pods: PodsService;
  readonly #clock: Clock;

  constructor(pods: PodsService, @Inject(CLOCK) clock: Clock) {
    this.#pods = pods;
    this.#clock = clock;
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
    const pods = await this.#pods.ofCluster(caller, id);
    return { pods: pods.map((pod) => toPodBody(pod, this.#clock.nowMs())) };
  }
}
