import { Transform } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
} from 'class-validator';
import {
  WORKER_NOTES_MAX,
  WORKER_PHASES,
  WORKER_REASON_CHARACTERS_MAX,
  cleanText,
  type EndpointId,
  type HostGpu,
  type Inventory,
  type ObservedWorker,
  type StartFailure,
  type WorkerId,
  type WorkerPhase,
} from '@berth/domain';
import type { JoinRequest, ReportRequest } from '@berth/contracts';
import { INTEGER_MAX } from '@berth/http';

const START_FAILURES: readonly StartFailure[] = ['image', 'container'];
const TEXT_MAX = 4_096;
const NAME_MAX = 512;
/** Ids are ours, so one that is none names nothing here. */
const ID = /^[\x21-\x7e]{1,128}$/;
/** The range of a `Date`. */
const INSTANT_MAX_MS = 8_640_000_000_000_000;

/** A text that came by way of an agent, or a list of such: a worker, an image or an engine wrote it. */
const Clean = (charactersMax: number): PropertyDecorator => {
  const clean = (value: unknown): unknown => (typeof value === 'string' ? cleanText(value, charactersMax) : value);
  return Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(clean) : clean(value)));
};

export class GpuDto implements HostGpu {
  @IsInt()
  @Min(0)
  @Max(INTEGER_MAX)
  index!: number;

  @Clean(NAME_MAX)
  @IsString()
  typeId!: string;

  @IsNumber()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  memoryBytes!: number;
}

/** Its lists are read entry by entry before it. */
export class InventoryDto implements Inventory {
  @IsNumber()
  @Min(0)
  @Max(INTEGER_MAX)
  vcpus!: number;

  @IsBoolean()
  isOvercommitted!: boolean;

  @IsNumber()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  memoryBytes!: number;

  @IsNumber()
  @Min(0)
  @Max(Number.MAX_SAFE_INTEGER)
  diskBytes!: number;

  @Allow()
  gpus!: HostGpu[];

  @IsBoolean()
  areGpusSimulated!: boolean;

  @IsOptional()
  @Matches(/^\d{1,9}\.\d{1,9}$/)
  cudaVersion!: string | null;

  @IsIn(['docker', 'process', 'kubernetes'])
  runtime!: Inventory['runtime'];

  @Allow()
  images!: string[];
}

export class ObservedWorkerDto implements ObservedWorker {
  @Matches(ID)
  workerId!: WorkerId;

  @Matches(ID)
  endpointId!: EndpointId;

  @IsInt()
  @Min(1)
  @Max(INTEGER_MAX)
  release!: number;

  @IsIn(WORKER_PHASES)
  phase!: WorkerPhase;

  @Clean(WORKER_REASON_CHARACTERS_MAX)
  @IsString()
  reason!: string;

  @IsInt()
  @Min(0)
  @Max(INTEGER_MAX)
  runningJobs!: number;

  @IsInt()
  @Min(0)
  @Max(INTEGER_MAX)
  failedStarts!: number;

  @IsNumber()
  @Min(0)
  @Max(INSTANT_MAX_MS)
  phaseSinceMs!: number;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(INSTANT_MAX_MS)
  startedAtMs!: number | null;

  @IsOptional()
  @Clean(NAME_MAX)
  @IsString()
  gpuTypeId!: string | null;

  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(100)
  imagePercent?: number;

  @IsOptional()
  @IsIn(START_FAILURES)
  failure?: StartFailure;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(INSTANT_MAX_MS)
  nextStartAtMs?: number;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(INSTANT_MAX_MS)
  lastJobEndedAtMs?: number;

  @IsOptional()
  @Clean(WORKER_REASON_CHARACTERS_MAX)
  @IsArray()
  @ArrayMaxSize(WORKER_NOTES_MAX)
  @IsString({ each: true })
  notes?: string[];
}

/** Without its inventory, which is read by itself. */
export class JoinFrameDto implements Omit<JoinRequest, 'inventory'> {
  @IsString()
  @MaxLength(TEXT_MAX)
  token!: string;

  @Matches(/^[0-9a-f]{64}$/)
  secretHash!: string;
}

/** Without what it reports, which is read entry by entry. */
export class ReportFrameDto implements Omit<ReportRequest, 'inventory' | 'workers'> {
  @IsString()
  @MaxLength(TEXT_MAX)
  secret!: string;

  @Matches(ID)
  instanceId!: string;

  @IsInt()
  @Min(0)
  @Max(INTEGER_MAX)
  sequence!: number;

  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(INSTANT_MAX_MS)
  sentAtMs?: number;
}
