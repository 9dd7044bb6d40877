import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AccountId } from '@berth/domain';
import { ApiProblems, CurrentCaller, RequireScope, type Caller } from '@berth/http';
import { AccountBody, AccountListBody, CreateAccountDto, NewAccountBody } from './account.dto.js';
import type { Account } from './account-records.port.js';
import { AccountsService } from './accounts.service.js';

const NO_CONTENT = 204;

@ApiTags('Accounts')
@Controller('v2/accounts')
@RequireScope('admin')
export class AccountsController {
  readonly #accounts: AccountsService;

  constructor(accounts: AccountsService) {
    this.#accounts = accounts;
  }

  @Post()
  @ApiOperation({ summary: 'Create an account', description: 'With a first key, which is shown this once.' })
  @ApiCreatedResponse({ type: NewAccountBody })
  @ApiProblems(400, 401, 403, 415, 422, 503)
  async create(@Body() { name }: CreateAccountDto): Promise<NewAccountBody> {
    const { account, firstKey } = await this.#accounts.create(name);
    return { ...toAccountBody(account), apiKey: firstKey };
  }

  @Get()
  @ApiOperation({ summary: 'List all accounts' })
  @ApiOkResponse({ type: AccountListBody })
  @ApiProblems(401, 403, 503)
  async list(): Promise<AccountListBody> {
    return { accounts: (await this.#accounts.list()).map(toAccountBody) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an account' })
  @ApiOkResponse({ type: AccountBody })
  @ApiProblems(401, 403, 404, 503)
  async get(@Param('id') id: AccountId): Promise<AccountBody> {
    return toAccountBody(await this.#accounts.get(id));
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @ApiOperation({
    summary: 'Delete an account',
    description: 'With its endpoints and keys. The account of the key itself cannot be deleted: 400.',
  })
  @ApiNoContentResponse()
  @ApiProblems(400, 401, 403, 404, 503)
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: AccountId): Promise<void> {
    await this.#accounts.delete(caller, id);
  }
}

const toAccountBody = ({ createdAtMs, id, name }: Account): AccountBody => ({
  id,
  name,
  createdAt: new Date(createdAtMs).toISOString(),
});
