import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiKeyListBody, CreateApiKeyDto, NewApiKeyBody, type ApiKeyBody } from '@berth/contracts/http';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import type { ApiKeyRecord } from '../persistence/index.js';
import { ApiKeysService } from './api-keys-service.js';

const NO_CONTENT = 204;

@ApiTags('API keys')
@Controller('v2/api-keys')
export class ApiKeysController {
  readonly #keys: ApiKeysService;

  constructor(keys: ApiKeysService) {
    this.#keys = keys;
  }

  @Post()
  @RequireScope('keys:write')
  @Idempotent({ showsSecret: true })
  @ApiOperation({
    summary: 'Create an API key',
    description:
      'A key cannot grant what its maker lacks, be it a scope, an endpoint or time: 403. The key itself is shown this once.',
  })
  @ApiCreatedResponse({ type: NewApiKeyBody })
  @ApiProblems('rule-conflict', 'endpoint-not-found')
  async create(@CurrentCaller() caller: Caller, @Body() dto: CreateApiKeyDto): Promise<NewApiKeyBody> {
    const { key, record } = await this.#keys.create(caller, dto);
    return { ...toApiKeyBody(record), key };
  }

  @Get()
  @RequireScope('keys:read')
  @ApiOperation({
    summary: 'List the API keys of the account, without the keys themselves',
    description: 'A key limited to some endpoints sees those alone that reach no others.',
  })
  @ApiOkResponse({ type: ApiKeyListBody })
  async list(@CurrentCaller() caller: Caller): Promise<ApiKeyListBody> {
    return { apiKeys: (await this.#keys.list(caller)).map(toApiKeyBody) };
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @RequireScope('keys:write')
  @ApiOperation({
    summary: 'Revoke an API key',
    description:
      'Every process refuses it within 2 s; a key may revoke itself. A key limited to some endpoints revokes those alone that reach no others: 403.',
  })
  @ApiNoContentResponse()
  @ApiProblems('api-key-not-found')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    await this.#keys.delete(caller, id);
  }
}

const toApiKeyBody = ({
  createdAtMs,
  endpointIds,
  expiresAtMs,
  id,
  name,
  prefix,
  scopes,
}: ApiKeyRecord): ApiKeyBody => ({
  id,
  name,
  prefix,
  scopes,
  endpointIds,
  expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
  createdAt: new Date(createdAtMs).toISOString(),
});
