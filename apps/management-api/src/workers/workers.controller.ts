import { Controller, Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { WorkerListBody } from '@berth/contracts/http';
import type { EndpointId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { WorkersService } from './workers-service.js';

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
    description: 'With the reason of each state, and in `waiting` why a wanted worker could not be placed.',
  })
  @ApiOkResponse({ type: WorkerListBody })
  @ApiProblems('endpoint-not-found')
  list(@CurrentCaller() caller: Caller, @Param('id') id: EndpointId): Promise<WorkerListBody> {
    return this.#workers.list(caller, id);
  }
}
