import { plainToInstance, Type, type ClassConstructor } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateNested,
  validateSync,
} from 'class-validator';
import { HISTORY_PAGE_MAX, type HistoryGetRequest, type HistoryListRequest } from '@berth/contracts';
import {
  JOB_STATES,
  PlatformError,
  type AccountId,
  type EndpointId,
  type JobId,
  type JobState,
  type PageKey,
} from '@berth/domain';

/** Ids are one token of a subject, so nothing else can be one. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/;
const INSTANT_MAX_MS = 8.64e15;

class PageKeyDto implements PageKey {
  @IsInt()
  @Min(0)
  @Max(INSTANT_MAX_MS)
  createdAtMs!: number;

  @Matches(TOKEN)
  jobId!: JobId;
}

class EndpointOfAccountDto {
  @Matches(TOKEN)
  accountId!: AccountId;

  @Matches(TOKEN)
  endpointId!: EndpointId;
}

export class HistoryListRequestDto extends EndpointOfAccountDto implements HistoryListRequest {
  @IsArray()
  @ArrayMaxSize(JOB_STATES.length)
  @IsIn(JOB_STATES, { each: true })
  statuses!: JobState[];

  @IsOptional()
  @ValidateNested()
  @Type(() => PageKeyDto)
  before!: PageKeyDto | null;

  @IsInt()
  @Min(1)
  @Max(HISTORY_PAGE_MAX)
  limit!: number;
}

export class HistoryGetRequestDto extends EndpointOfAccountDto implements HistoryGetRequest {
  @Matches(TOKEN)
  jobId!: JobId;
}

/** @throws PlatformError `invalid-fields` */
export function readQuestion<Question extends object>(type: ClassConstructor<Question>, body: unknown): Question {
  const question: unknown = plainToInstance(type, body);
  const failures = question instanceof type ? validateSync(question, { whitelist: true }) : null;
  if (failures?.length === 0) return question as Question;
  const names = failures?.map(({ property }) => property).join(', ') ?? 'no object';
  throw new PlatformError('invalid-fields', `The question about the job history cannot be read: ${names}.`);
}
