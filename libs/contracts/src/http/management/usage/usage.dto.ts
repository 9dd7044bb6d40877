import { ApiProperty } from '@nestjs/swagger';
import { readSince, USAGE_BUCKETS, type UsageBucket } from '@berth/domain';
import { QueryIntegerField, QueryListField } from '../../fields/query-field.js';
import { ChoiceField, TextField } from '../../fields/text-field.js';

const ID_MAX = 255;
const INSTANT_MAX = 40;
const EARLIEST_MS = Date.UTC(2000);
const LATEST_MS = Date.UTC(3000);
const LIMIT_MAX = 1_000;
const CURSOR_MAX = 1_024;
export const USAGE_LIMIT_DEFAULT = 100;

const USAGE_GROUPS = ['endpoint', 'gpuType'] as const;

/** What sums may be told apart by, besides time. */
type UsageGroup = (typeof USAGE_GROUPS)[number];

const SECONDS = { type: 'number', minimum: 0 } as const;

const InstantField = (description: string, example: string): PropertyDecorator =>
  TextField({
    isOptional: true,
    maxLength: INSTANT_MAX,
    format: 'date-time',
    description,
    example,
    rule: (text) => {
      const atMs = readSince(text);
      if (atMs === null) return 'must be an instant of RFC 3339, such as 2026-01-01T12:00:00Z';
      return atMs >= EARLIEST_MS && atMs < LATEST_MS ? null : 'must be in the years 2000 to 2999';
    },
  });

export class UsageQueryDto {
  @InstantField(
    'From when on, RFC 3339; rounded down to a whole bucket. Omitted: 24 hours, or 30 days, before `end` once that is rounded. At most 31 days before `end` with hours, 366 with days.',
    '2026-01-01T09:00:00Z',
  )
  readonly start?: string;

  @InstantField(
    'Up to when, and without it, RFC 3339; rounded up to a whole bucket. Omitted: now.',
    '2026-01-01T12:00:00Z',
  )
  readonly end?: string;

  @ChoiceField(USAGE_BUCKETS, {
    isOptional: true,
    default: 'hour',
    description: 'By which stretches of time it is added up: whole hours or days of UTC.',
    example: 'hour',
  })
  readonly bucket?: UsageBucket;

  @QueryListField({
    isOptional: true,
    choices: USAGE_GROUPS,
    default: ['endpoint'],
    description: 'What the sums are told apart by, separated by commas.',
    example: ['endpoint', 'gpuType'],
  })
  readonly groupBy?: UsageGroup[];

  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: ID_MAX,
    description: 'Only what workers of this endpoint used; it may be deleted. Unknown: nothing was used.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly endpointId?: string;

  @QueryIntegerField({
    isOptional: true,
    minimum: 1,
    maximum: LIMIT_MAX,
    default: USAGE_LIMIT_DEFAULT,
    description: 'How many sums at most.',
    example: 100,
  })
  readonly limit?: number;

  @TextField({
    isOptional: true,
    minLength: 1,
    maxLength: CURSOR_MAX,
    pattern: /^[A-Za-z0-9_-]+$/,
    patternReason: 'must be the cursor of an earlier answer',
    description: 'Goes on where an earlier answer to the same query ended.',
    example: 'WzE3NjcyNTgwMDAwMDAsImszdjl4MHEybTdhMXpkIixudWxsXQ',
  })
  readonly cursor?: string;
}

export class UsageBody {
  @ApiProperty({
    format: 'date-time',
    description: 'Begin of the hour or day in which it was used.',
    example: '2026-01-01T09:00:00.000Z',
  })
  readonly start!: string;

  @ApiProperty({
    required: false,
    description: 'Absent unless grouped by endpoint. It may be deleted.',
    example: 'k3v9x0q2m7a1zd',
  })
  readonly endpointId?: string;

  @ApiProperty({
    type: String,
    required: false,
    nullable: true,
    description: 'As it is called now; null: it is deleted. Absent unless grouped by endpoint.',
    example: 'llama',
  })
  readonly endpointName?: string | null;

  @ApiProperty({
    type: String,
    required: false,
    nullable: true,
    description: 'Null: workers without a GPU. Absent unless grouped by type of GPU.',
    example: 'NVIDIA GeForce RTX 4090',
  })
  readonly gpuTypeId?: string | null;

  @ApiProperty({ ...SECONDS, description: 'For which workers had a container that was not paused.', example: 5_400 })
  readonly workerSeconds!: number;

  @ApiProperty({ ...SECONDS, description: 'The same, each worker times its GPUs.', example: 10_800 })
  readonly gpuSeconds!: number;

  @ApiProperty({ ...SECONDS, description: 'For which workers were paused.', example: 30.5 })
  readonly pausedWorkerSeconds!: number;

  @ApiProperty({ ...SECONDS, description: 'The same, each worker times the GPUs that it held.', example: 61 })
  readonly pausedGpuSeconds!: number;
}

export class UsageListBody {
  @ApiProperty({ enum: USAGE_BUCKETS, description: 'The stretch of time of each sum, in UTC.', example: 'hour' })
  readonly bucket!: UsageBucket;

  @ApiProperty({
    format: 'date-time',
    description: 'From when on it is told, rounded.',
    example: '2026-01-01T09:00:00.000Z',
  })
  readonly start!: string;

  @ApiProperty({
    format: 'date-time',
    description: 'Up to when it is told, rounded, and without it.',
    example: '2026-01-01T12:00:00.000Z',
  })
  readonly end!: string;

  @ApiProperty({
    format: 'date-time',
    description:
      'Everything that was used before this instant is in the sums; some of what was used after it may be missing still.',
    example: '2026-01-01T11:59:45.000Z',
  })
  readonly countedUntil!: string;

  @ApiProperty({
    type: () => [UsageBody],
    description: 'Oldest first. Where nothing was used there is no sum.',
  })
  readonly usage!: readonly UsageBody[];

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Null at the end.',
    example: 'WzE3NjcyNTgwMDAwMDAsImszdjl4MHEybTdhMXpkIixudWxsXQ',
  })
  readonly cursor!: string | null;
}
