import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { UsageListBody, UsageQueryDto } from '@berth/contracts/http';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { UsageService } from './usage-service.js';

const DESCRIPTION = [
  'Seconds for which workers had a container, and the same times their GPUs, running and paused apart, by hour or day of UTC.',
  'Images that are pulled, and pauses between two starts, use nothing. Deleted endpoints stay in the sums, which are kept for',
  '400 days. A range that is told has whole hours or days: `start` is rounded down and `end` up, and both are answered as they',
  'were taken. Sums are exact to the millisecond up to 2^42 s; `countedUntil` says up to when nothing is missing.',
].join('\n');

@ApiTags('Usage')
@Controller('v2/usage')
export class UsageController {
  readonly #usage: UsageService;

  constructor(usage: UsageService) {
    this.#usage = usage;
  }

  @Get()
  @RequireScope('usage:read')
  @ApiOperation({ summary: 'List what was used of workers and GPUs', description: DESCRIPTION })
  @ApiOkResponse({ type: UsageListBody })
  list(@CurrentCaller() caller: Caller, @Query() query: UsageQueryDto): Promise<UsageListBody> {
    return this.#usage.list(caller, query);
  }
}
