import { Controller, Get, Inject, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { PodId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import { CLOCK } from '../clock.port.js';
import { PodQueryDto } from './pod-query.dto.js';
import { PodBody, PodListBody } from './pod.body.js';
import { toPodBody } from './pod.mapper.js';
import { PodsService } from './pods-service.js';

@ApiTags('Pods')
@Controller('v2/pods')
@RequireScope('clusters:read')
export class PodsController {
  readonly #pods: PodsService;
  readonly #clock: Clock;

  constructor(pods: PodsService, @Inject(CLOCK) clock: Clock) {
    this.#pods = pods;
    this.#clock = clock;
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
    const pods = await this.#pods.list(caller, { includesClusterPods: includeClusterPods });
    return { pods: pods.map((pod) => toPodBody(pod, this.#clock.nowMs())) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a pod', description: 'Also one of a cluster.' })
  @ApiOkResponse({ type: PodBody })
  @ApiProblems('pod-not-found')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: PodId): Promise<PodBody> {
    return toPodBody(await this.#pods.get(caller, id), this.#clock.nowMs());
  }
}
