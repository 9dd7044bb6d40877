import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { TemplateBody, TemplateListBody, CreateTemplateDto, UpdateTemplateDto } from '@berth/contracts/http';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import { toTemplateBody } from './template.mapper.js';
import { TemplatesService } from './templates-service.js';

const NO_CONTENT = 204;

@ApiTags('Templates')
@Controller('v2/templates')
export class TemplatesController {
  readonly #templates: TemplatesService;

  constructor(templates: TemplatesService) {
    this.#templates = templates;
  }

  @Post()
  @RequireScope('templates:write')
  @Idempotent()
  @ApiOperation({
    summary: 'Create a template',
    description:
      'What is made from a template is a copy: later changes of the template reach nobody. A public template can be read by every account, its environment included.',
  })
  @ApiCreatedResponse({ type: TemplateBody })
  @ApiProblems('registry-not-found')
  async create(@CurrentCaller() caller: Caller, @Body() dto: CreateTemplateDto): Promise<TemplateBody> {
    return toTemplateBody(await this.#templates.create(caller, dto));
  }

  @Get()
  @RequireScope('templates:read')
  @ApiOperation({
    summary: 'List the templates of the account',
    description: 'Public templates of all accounts are in the catalog.',
  })
  @ApiOkResponse({ type: TemplateListBody })
  async list(@CurrentCaller() caller: Caller): Promise<TemplateListBody> {
    return { templates: (await this.#templates.list(caller)).map(toTemplateBody) };
  }

  @Get(':id')
  @RequireScope('templates:read')
  @ApiOperation({
    summary: 'Read a template',
    description: "An own one, or a public one of another account, without that account's registry.",
  })
  @ApiOkResponse({ type: TemplateBody })
  @ApiProblems('template-not-found')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<TemplateBody> {
    return toTemplateBody(await this.#templates.get(caller, id));
  }

  @Patch(':id')
  @RequireScope('templates:write')
  @ApiOperation({
    summary: 'Change a template',
    description:
      "What is left out stays; `env`, `mounts` and lists are replaced whole. Endpoints and pods made from it stay as they are. Another account's template is 404, a public one too.",
  })
  @ApiOkResponse({ type: TemplateBody })
  @ApiProblems('template-not-found', 'registry-not-found')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() dto: UpdateTemplateDto,
  ): Promise<TemplateBody> {
    return toTemplateBody(await this.#templates.update(caller, id, dto));
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @RequireScope('templates:write')
  @ApiOperation({
    summary: 'Delete a template',
    description: 'It is never in use: endpoints and pods made from it stay as they are.',
  })
  @ApiNoContentResponse()
  @ApiProblems('template-not-found')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    await this.#templates.delete(caller, id);
  }
}
