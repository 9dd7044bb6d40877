import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { AccountId } from '@berth/domain';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
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
  @Idempotent({ showsSecret: true })
  @ApiOperation({ summary: 'Create an account', description: 'With a first key, which is shown this once.' })
  @ApiCreatedResponse({ type: NewAccountBody })
  async create(@CurrentCaller() caller: Caller, @Body() { name }: CreateAccountDto): Promise<NewAccountBody> {
    const { account, firstKey } = await this.#accounts.create(caller, name);
    return { ...toAccountBody(account), apiKey: firstKey };
  }

  @Get()
  @ApiOperation({ summary: 'List all accounts' })
  @ApiOkResponse({ type: AccountListBody })
  async list(): Promise<AccountListBody> {
    return { accounts: (await this.#accounts.list()).map(toAccountBody) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read an account' })
  @ApiOkResponse({ type: AccountBody })
  @ApiProblems('account-not-found')
  async get(@Param('id') id: AccountId): Promise<AccountBody> {
    return toAccountBody(await this.#accounts.get(id));
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @ApiOperation({
    summary: 'Delete an account',
    description:
      'With all that it has; its keys are refused by every process within 2 s. The account of the key itself cannot be deleted: 400.',
  })
  @ApiNoContentResponse()
  @ApiProblems('rule-conflict', 'account-not-found')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: AccountId): Promise<void> {
    await this.#accounts.delete(caller, id);
  }
}

const toAccountBody = ({ createdAtMs, id, name }: Account): AccountBody => ({
  id,
  name,
  createdAt: new Date(createdAtMs).toISOString(),
});
