import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CreateRegistryDto, RegistryBody, RegistryListBody } from '@berth/contracts/http';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import type { Registry } from './registries.store.js';
import { RegistriesService } from './registries-service.js';

const NO_CONTENT = 204;

@ApiTags('Registries')
@Controller('v2/registries')
export class RegistriesController {
  readonly #registries: RegistriesService;

  constructor(registries: RegistriesService) {
    this.#registries = registries;
  }

  @Post()
  @RequireScope('registries:write')
  @Idempotent()
  @ApiOperation({
    summary: 'Keep credentials of a container registry',
    description:
      'Endpoints, pods and templates name them to use private images. User name and password are kept encrypted, are never shown, and cannot be changed: make new ones, and delete these.',
  })
  @ApiCreatedResponse({ type: RegistryBody })
  async create(@CurrentCaller() caller: Caller, @Body() dto: CreateRegistryDto): Promise<RegistryBody> {
    return toRegistryBody(await this.#registries.create(caller, dto));
  }

  @Get()
  @RequireScope('registries:read')
  @ApiOperation({ summary: 'List the registries of the account, without user names and passwords' })
  @ApiOkResponse({ type: RegistryListBody })
  async list(@CurrentCaller() caller: Caller): Promise<RegistryListBody> {
    return { registries: (await this.#registries.list(caller)).map(toRegistryBody) };
  }

  @Get(':id')
  @RequireScope('registries:read')
  @ApiOperation({ summary: 'Read a registry, without user name and password' })
  @ApiOkResponse({ type: RegistryBody })
  @ApiProblems('registry-not-found')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<RegistryBody> {
    return toRegistryBody(await this.#registries.get(caller, id));
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @RequireScope('registries:write')
  @ApiOperation({
    summary: 'Delete a registry',
    description: 'While an endpoint or a pod uses it: 400, naming up to ten of them. Templates that name it lose it.',
  })
  @ApiNoContentResponse()
  @ApiProblems('registry-not-found', 'registry-in-use')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    await this.#registries.delete(caller, id);
  }
}

const toRegistryBody = ({ id, name }: Registry): RegistryBody => ({ id, name });
