import { plainToInstance, Type, type ClassConstructor } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
  validateSync,
} from 'class-validator';
import {
  PlatformError,
  WORKER_PHASES,
  type EndpointId,
  type Inventory,
  type ObservedWorker,
  type StartFailure,
  type WorkerId,
  type WorkerPhase,
} from '@berth/domain';
import type { JoinRequest, ReportRequest } from '@berth/contracts';
import { INTEGER_MAX } from '@berth/http';

const START_FAILURES: readonly StartFailure[] = ['image', 'container'];
const WORKERS_MAX = 4_096;
const GPUS_MAX = 256;
const IMAGES_MAX = 10_000;
const TEXT_MAX = 4_096;

class GpuDto {
  @IsInt()
  @Min(0)
  index!: number;

  @IsString()
  @MaxLength(TEXT_MAX)
  typeId!: string;

  @IsNumber()
  @Min(0)
  memoryBytes!: number;
}

class InventoryDto implements Inventory {
  @IsNumber()
  @Min(0)
  vcpus!: number;

  @IsBoolean()
  isOvercommitted!: boolean;

  @IsNumber()
  @Min(0)
  memoryBytes!: number;

  @IsNumber()
  @Min(0)
  diskBytes!: number;

  @IsArray()
  @ArrayMaxSize(GPUS_MAX)
  @ValidateNested({ each: true })
  @Type(() => GpuDto)
  gpus!: GpuDto[];

  @IsBoolean()
  areGpusSimulated!: boolean;

  @IsOptional()
  @Matches(/^\d+\.\d+$/)
  cudaVersion!: string | null;

  @IsIn(['docker', 'process', 'kubernetes'])
  runtime!: Inventory['runtime'];

  @IsArray()
  @ArrayMaxSize(IMAGES_MAX)
  @IsString({ each: true })
  images!: string[];
}

class ObservedWorkerDto implements ObservedWorker {
  @IsString()
  workerId!: WorkerId;

  @IsString()
  endpointId!: EndpointId;

  @IsInt()
  @Min(1)
  release!: number;

  @IsIn(WORKER_PHASES)
  phase!: WorkerPhase;

  @IsString()
  @MaxLength(TEXT_MAX)
  reason!: string;

  @IsInt()
  @Min(0)
  runningJobs!: number;

  @IsInt()
  @Min(0)
  failedStarts!: number;

  @IsNumber()
  phaseSinceMs!: number;

  @IsOptional()
  @IsNumber()
  startedAtMs!: number | null;

  @IsOptional()
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
  nextStartAtMs?: number;
}

export class JoinRequestDto implements JoinRequest {
  @IsString()
  @MaxLength(TEXT_MAX)
  token!: string;

  @Matches(/^[0-9a-f]{64}$/)
  secretHash!: string;

  @IsObject()
  @ValidateNested()
  @Type(() => InventoryDto)
  inventory!: InventoryDto;
}

export class ReportRequestDto implements ReportRequest {
  @IsString()
  @MaxLength(TEXT_MAX)
  secret!: string;

  @IsString()
  @MaxLength(TEXT_MAX)
  instanceId!: string;

  @IsInt()
  @Min(0)
  @Max(INTEGER_MAX)
  sequence!: number;

  @IsObject()
  @ValidateNested()
  @Type(() => InventoryDto)
  inventory!: InventoryDto;

  @IsArray()
  @ArrayMaxSize(WORKERS_MAX)
  @ValidateNested({ each: true })
  @Type(() => ObservedWorkerDto)
  workers!: ObservedWorkerDto[];
}

/**
 * A host is trusted with its own workers, not with the shape of what it says.
 *
 * @throws PlatformError `invalid-fields`
 */
export function readMessage<Message extends object>(type: ClassConstructor<Message>, body: unknown): Message {
  const message: unknown = plainToInstance(type, body);
  if (!(message instanceof type)) throw unreadable('no object');
  const failures = validateSync(message, { whitelist: true });
  if (failures.length > 0) throw unreadable(failures.map(({ property }) => property).join(', '));
  return message;
}

const unreadable = (why: string): PlatformError =>
  new PlatformError('invalid-fields', `The message of this host cannot be read: ${why}.`);
