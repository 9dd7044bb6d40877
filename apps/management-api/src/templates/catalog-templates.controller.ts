import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ChoiceField, TemplateBody } from '@berth/contracts/http';
import { TEMPLATE_SOURCES, type TemplateSource } from '@berth/domain';
import { CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { toTemplateBody } from './template.mapper.js';
import { TemplatesService } from './templates-service.js';

const TEMPLATES_MAX = 100;

export class CatalogTemplatesQueryDto {
  @ChoiceField(TEMPLATE_SOURCES, {
    isOptional: true,
    default: 'official',
    description: 'Who vouches for them: the operator, the operator for their makers, or nobody.',
    example: 'community',
  })
  readonly source?: TemplateSource;
}

export class CatalogTemplateListBody {
  @ApiProperty({ type: () => [TemplateBody], description: `Oldest first, at most ${TEMPLATES_MAX}.` })
  readonly templates!: readonly TemplateBody[];
}

@ApiTags('Catalog')
@Controller('v2/catalog/templates')
export class CatalogTemplatesController {
  readonly #templates: TemplatesService;

  constructor(templates: TemplatesService) {
    this.#templates = templates;
  }

  @Get()
  @RequireScope('catalog:read')
  @ApiOperation({
    summary: 'List public templates',
    description: 'Of every account, for pods and for endpoints: `serverless` tells them apart.',
  })
  @ApiOkResponse({ type: CatalogTemplateListBody })
  async list(
    @CurrentCaller() caller: Caller,
    @Query() { source = 'official' }: CatalogTemplatesQueryDto,
  ): Promise<CatalogTemplateListBody> {
    const templates = await this.#templates.listPublic(caller, { source, limit: TEMPLATES_MAX });
    return { templates: templates.map(toTemplateBody) };
  }
}
