import { ApiProperty } from '@nestjs/swagger';
import { TEMPLATE_CATEGORIES, TEMPLATE_SOURCES, type TemplateCategory, type TemplateSource } from '@berth/domain';

export class PersistentMountBody {
  @ApiProperty({ type: 'integer', minimum: 10, description: 'GB.', example: 20 })
  readonly size!: number;

  @ApiProperty({ description: 'Absolute path inside the container.', example: '/workspace' })
  readonly path!: string;
}

export class TemplateMountsBody {
  @ApiProperty({ type: () => PersistentMountBody, required: false, description: 'Absent: none.' })
  readonly persistent?: PersistentMountBody;
}

export class TemplateBody {
  @ApiProperty({ example: 'k3v9x0q2m7a1zd' })
  readonly id!: string;

  @ApiProperty({ example: 'llama-server' })
  readonly name!: string;

  @ApiProperty({ example: 'registry.example.com/team/worker:1.4' })
  readonly image!: string;

  @ApiProperty({ example: '--model llama' })
  readonly args!: string;

  @ApiProperty({ type: 'integer', required: false, description: "GB. Absent: the operator's default.", example: 20 })
  readonly disk?: number;

  @ApiProperty({ description: 'Disks of a pod made from it.', type: () => TemplateMountsBody })
  readonly mounts!: TemplateMountsBody;

  @ApiProperty({ type: [String], example: ['8080/http'] })
  readonly ports!: readonly string[];

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, example: { MODEL: 'llama' } })
  readonly env!: Readonly<Record<string, string>>;

  @ApiProperty({
    type: String,
    nullable: true,
    description: "Null: none, or the template is another account's.",
    example: null,
  })
  readonly registry!: string | null;

  @ApiProperty({ description: 'Endpoints can be made from it; false: pods only.', example: true })
  readonly serverless!: boolean;

  @ApiProperty({ description: 'Every account can read and use it.', example: false })
  readonly public!: boolean;

  @ApiProperty({ description: 'The hardware that it is for.', enum: TEMPLATE_CATEGORIES, example: 'NVIDIA' })
  readonly category!: TemplateCategory;

  @ApiProperty({
    enum: TEMPLATE_SOURCES,
    description: 'Says something only where public is true.',
    example: 'community',
  })
  readonly source!: TemplateSource;

  @ApiProperty({ description: 'Whether a pod starts an SSH server.', example: true })
  readonly startSsh!: boolean;

  @ApiProperty({ description: 'Whether a pod starts Jupyter.', example: true })
  readonly startJupyter!: boolean;

  @ApiProperty({ type: [String], description: 'Empty: any.', example: ['12.4'] })
  readonly allowedCudaVersions!: readonly string[];

  @ApiProperty({ format: 'date-time', example: '2026-01-01T12:00:00.000Z' })
  readonly createdAt!: string;
}

export class TemplateListBody {
  @ApiProperty({ type: () => [TemplateBody], description: "The account's own, oldest first." })
  readonly templates!: readonly TemplateBody[];
}
