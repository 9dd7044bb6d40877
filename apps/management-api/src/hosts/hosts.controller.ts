import { Body, Controller, Delete, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { HostId } from '@berth/domain';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import { CLOCK } from '../clock.port.js';
import { HostBody, HostDetailBody, HostListBody, JoinTokenBody } from './host.body.js';
import { CreateJoinTokenDto, HostActionDto } from './host.dto.js';
import { toHostBody, toHostWorkerBody } from './host.mapper.js';
import { HostsService } from './hosts-service.js';

const OK = 200;
const NO_CONTENT = 204;

@ApiTags('Hosts')
@Controller('v2/hosts')
@RequireScope('admin')
export class HostsController {
  readonly #hosts: HostsService;
  readonly #clock: Clock;

  constructor(hosts: HostsService, @Inject(CLOCK) clock: Clock) {
    this.#hosts = hosts;
    this.#clock = clock;
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
    const hosts = await this.#hosts.list();
    return { hosts: hosts.map((host) => toHostBody(host, this.#clock.nowMs())) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a host with its inventory and workers' })
  @ApiOkResponse({ type: HostDetailBody })
  @ApiProblems('host-not-found')
  async get(@Param('id') id: HostId): Promise<HostDetailBody> {
    const { host, workers } = await this.#hosts.get(id);
    return { ...toHostBody(host, this.#clock.nowMs()), workers: workers.map(toHostWorkerBody) };
  }

  @Post(':id/action')
  @HttpCode(OK)
  @ApiOperation({ summary: 'Cordon, uncordon or drain a host' })
  @ApiOkResponse({ type: HostBody })
  @ApiProblems('host-not-found')
  async act(
    @CurrentCaller() caller: Caller,
    @Param('id') id: HostId,
    @Body() { action }: HostActionDto,
  ): Promise<HostBody> {
    return toHostBody(await this.#hosts.act(caller, id, action), this.#clock.nowMs());
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
