import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  HostBody,
  HostDetailBody,
  HostListBody,
  JoinTokenBody,
  CreateJoinTokenDto,
  HostActionDto,
} from '@berth/contracts/http';
import type { HostId } from '@berth/domain';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import { HostsService } from './hosts-service.js';

const OK = 200;
const NO_CONTENT = 204;

@ApiTags('Hosts')
@Controller('v2/hosts')
@RequireScope('admin')
export class HostsController {
  readonly #hosts: HostsService;

  constructor(hosts: HostsService) {
    this.#hosts = hosts;
  }

  @Post('join-tokens')
  @Idempotent({ showsSecret: true })
  @ApiOperation({ summary: 'Invite a host', description: 'The token joins one host, once.' })
  @ApiCreatedResponse({ type: JoinTokenBody })
  async invite(@CurrentCaller() caller: Caller, @Body() dto: CreateJoinTokenDto): Promise<JoinTokenBody> {
    const { expiresAtMs, hostId, token } = await this.#hosts.invite(caller, dto);
    return { hostId, token, expiresAt: new Date(expiresAtMs).toISOString() };
  }

  @Get()
  @ApiOperation({ summary: 'List all hosts' })
  @ApiOkResponse({ type: HostListBody })
  async list(): Promise<HostListBody> {
    return { hosts: await this.#hosts.list() };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a host with its inventory and workers' })
  @ApiOkResponse({ type: HostDetailBody })
  @ApiProblems('host-not-found')
  get(@Param('id') id: HostId): Promise<HostDetailBody> {
    return this.#hosts.get(id);
  }

  @Post(':id/action')
  @HttpCode(OK)
  @ApiOperation({ summary: 'Cordon, uncordon or drain a host, or let a removed node join again' })
  @ApiOkResponse({ type: HostBody })
  @ApiProblems('host-not-found')
  act(@CurrentCaller() caller: Caller, @Param('id') id: HostId, @Body() { action }: HostActionDto): Promise<HostBody> {
    return this.#hosts.act(caller, id, action);
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @ApiOperation({
    summary: 'Remove a host',
    description: 'It may do nothing from then on; its workers are placed elsewhere.',
  })
  @ApiNoContentResponse()
  @ApiProblems('host-not-found')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: HostId): Promise<void> {
    await this.#hosts.delete(caller, id);
  }
}
