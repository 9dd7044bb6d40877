import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { WorkerActionDto, WorkerBody, WorkerListBody } from '@berth/contracts/http';
import type { EndpointId, WorkerId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { WorkersService } from './workers-service.js';

const OK = 200;

interface WorkerPath {
  readonly id: EndpointId;
  readonly workerId: WorkerId;
}

@ApiTags('Workers')
@Controller('v2/serverless/:id/workers')
export class WorkersController {
  readonly #workers: WorkersService;

  constructor(workers: WorkersService) {
    this.#workers = workers;
  }

  @Get()
  @RequireScope('serverless:read')
  @ApiOperation({
    summary: 'List the workers of an endpoint',
    description:
      'With the reason of each state, and in `waiting` why a wanted worker could not be placed. `rollout` tells how far the latest release has come.',
  })
  @ApiOkResponse({ type: WorkerListBody })
  @ApiProblems('endpoint-not-found')
  list(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<WorkerListBody> {
    return this.#workers.list(caller, id);
  }

  @Post(':workerId/action')
  @HttpCode(OK)
  @RequireScope('serverless:write')
  @ApiOperation({
    summary: 'Restart a worker',
    description:
      'Its container is replaced by a new one; a job that it has is queued again without a charge. Failed starts of the worker are forgotten, and those of its release with them: what was crash-looping starts afresh.',
  })
  @ApiParam({ name: 'id', type: String })
  @ApiParam({ name: 'workerId', type: String })
  @ApiOkResponse({ type: WorkerBody })
  @ApiProblems('endpoint-not-found', 'worker-not-found')
  act(
    @CurrentCaller() caller: Caller,
    @Param() { id, workerId }: WorkerPath,
    @Body() { action }: WorkerActionDto,
  ): Promise<WorkerBody> {
    return this.#workers.act(caller, id, { action, workerId });
  }
}
