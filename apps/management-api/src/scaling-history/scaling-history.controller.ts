import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { SCALING_LIMIT_DEFAULT, ScalingBody, ScalingQueryDto } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { ScalingHistoryService } from './scaling-history-service.js';

const DESCRIPTION = [
  'The present decision of the autoscaler with the workers that wait for a place, and the decisions of the last 24 hours, the',
  'newest first, at most 1,000. There is an entry where the number of workers, its reason, or what waits for a place has',
  'changed, and where workers came or went.',
].join('\n');

@ApiTags('Workers')
@Controller('v2/serverless/:id/scaling')
export class ScalingHistoryController {
  readonly #history: ScalingHistoryService;

  constructor(history: ScalingHistoryService) {
    this.#history = history;
  }

  @Get()
  @RequireScope('serverless:read')
  @ApiOperation({ summary: 'Read why an endpoint has so many workers', description: DESCRIPTION })
  @ApiOkResponse({ type: ScalingBody })
  @ApiProblems('endpoint-not-found')
  get(
    @CurrentCaller() caller: Caller,
    @Param('id') id: EndpointId,
    @Query() { cursor, limit = SCALING_LIMIT_DEFAULT }: ScalingQueryDto,
  ): Promise<ScalingBody> {
    return this.#history.get(caller, id, { limit, ...(cursor === undefined ? {} : { before: cursor }) });
  }
}
