import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  CreateNetworkVolumeDto,
  NetworkVolumeBody,
  NetworkVolumeListBody,
  UpdateNetworkVolumeDto,
} from '@berth/contracts/http';
import { ApiProblems, CurrentCaller, Idempotent, RequireScope, type Caller } from '@berth/http';
import { toNetworkVolumeBody } from './network-volume.mapper.js';
import { NetworkVolumesService } from './network-volumes-service.js';

const NO_CONTENT = 204;

@ApiTags('Network volumes')
@Controller('v2/network-volumes')
export class NetworkVolumesController {
  readonly #volumes: NetworkVolumesService;

  constructor(volumes: NetworkVolumesService) {
    this.#volumes = volumes;
  }

  @Post()
  @RequireScope('volumes:write')
  @Idempotent()
  @ApiOperation({ summary: 'Create a network volume' })
  @ApiCreatedResponse({ type: NetworkVolumeBody })
  @ApiProblems('limit-reached')
  async create(@CurrentCaller() caller: Caller, @Body() dto: CreateNetworkVolumeDto): Promise<NetworkVolumeBody> {
    return toNetworkVolumeBody(await this.#volumes.create(caller, dto));
  }

  @Get()
  @RequireScope('volumes:read')
  @ApiOperation({ summary: 'List the network volumes of the account' })
  @ApiOkResponse({ type: NetworkVolumeListBody })
  async list(@CurrentCaller() caller: Caller): Promise<NetworkVolumeListBody> {
    return { networkVolumes: (await this.#volumes.list(caller)).map(toNetworkVolumeBody) };
  }

  @Get(':id')
  @RequireScope('volumes:read')
  @ApiOperation({ summary: 'Read a network volume' })
  @ApiOkResponse({ type: NetworkVolumeBody })
  @ApiProblems('network-volume-not-found')
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<NetworkVolumeBody> {
    return toNetworkVolumeBody(await this.#volumes.get(caller, id));
  }

  @Patch(':id')
  @RequireScope('volumes:write')
  @ApiOperation({
    summary: 'Rename or enlarge a network volume',
    description: 'At least one of the fields, otherwise 422. A volume never shrinks: 400.',
  })
  @ApiOkResponse({ type: NetworkVolumeBody })
  @ApiProblems('network-volume-not-found', 'rule-conflict', 'limit-reached')
  async update(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() dto: UpdateNetworkVolumeDto,
  ): Promise<NetworkVolumeBody> {
    return toNetworkVolumeBody(await this.#volumes.update(caller, id, dto));
  }

  @Delete(':id')
  @HttpCode(NO_CONTENT)
  @RequireScope('volumes:write')
  @ApiOperation({
    summary: 'Delete a network volume',
    description:
      'While an endpoint, a pod or a worker that is still leaving uses it: 400, naming up to ten of them. Its files are removed soon after, by a host that reaches its storage; they cannot be had back.',
  })
  @ApiNoContentResponse()
  @ApiProblems('network-volume-not-found', 'network-volume-in-use')
  async delete(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<void> {
    await this.#volumes.delete(caller, id);
  }
}
