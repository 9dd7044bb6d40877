import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  AccountListBody,
  AccountWithLimitsBody,
  CreateAccountDto,
  NewAccountBody,
  UpdateAccountDto,
} from '@berth/contracts/http';
import type { AccountId } from '@berth/domain';
import {
  ApiProblems,
  CurrentCaller,
  Idempotent,
  IfMatch,
  RequireScope,
  VersionedAnswer,
  VersionedAnswers,
  type Caller,
  type VersionMatch,
} from '@berth/http';
import { toAccountBody, toAccountWithLimitsBody, toLimitChange } from './account.mapper.js';
import type { Account } from './accounts.store.js';
import { AccountsService } from './accounts-service.js';

const NO_CONTENT = 204;
const UPDATE_DESCRIPTION = [
  'What is absent stays; null takes a limit back to its default, and with later versions to what the default is then. `{}`,',
  'and what changes nothing, is 200 and makes no new version.',
  '',
  'What the account has already stays when a limit is lowered: only what would come on top is refused, with `limit-reached`.',
  'Routers learn of a change with the endpoints of the account: with 500 of them before the answer, with others in seconds.',
].join('\n');

@ApiTags('Accounts')
@Controller('v2/accounts')
@VersionedAnswers()
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
  async create(
    @CurrentCaller() caller: Caller,
    @Body() { name }: CreateAccountDto,
  ): Promise<VersionedAnswer<NewAccountBody>> {
    const { account, firstKey } = await this.#accounts.create(caller, name);
    return new VersionedAnswer({ ...toAccountBody(account), apiKey: firstKey }, account.version);
  }

  @Get()
  @ApiOperation({ summary: 'List all accounts' })
  @ApiOkResponse({ type: AccountListBody })
  async list(): Promise<AccountListBody> {
    return { accounts: (await this.#accounts.list()).map(toAccountBody) };
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read an account',
    description: 'With its limits. 304 where `If-None-Match` names the present version.',
  })
  @ApiOkResponse({ type: AccountWithLimitsBody })
  @ApiProblems('account-not-found')
  async get(@Param('id') id: AccountId): Promise<VersionedAnswer<AccountWithLimitsBody>> {
    return answer(await this.#accounts.get(id));
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change the limits of an account', description: UPDATE_DESCRIPTION })
  @ApiOkResponse({ type: AccountWithLimitsBody })
  @ApiProblems('account-not-found')
  // eslint-disable-next-line no-restricted-syntax -- decorators name what each parameter is, and Nest fills it by them
  async update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: AccountId,
    @IfMatch() expected: VersionMatch | null,
    @Body() dto: UpdateAccountDto,
  ): Promise<VersionedAnswer<AccountWithLimitsBody>> {
    return answer(await this.#accounts.update(caller, id, { change: toLimitChange(dto), expected }));
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
  async delete(
    @CurrentCaller() caller: Caller,
    @Param('id') id: AccountId,
    @IfMatch() expected: VersionMatch | null,
  ): Promise<void> {
    await this.#accounts.delete(caller, id, expected);
  }
}

const answer = (account: Account): VersionedAnswer<AccountWithLimitsBody> =>
  new VersionedAnswer(toAccountWithLimitsBody(account), account.version);
