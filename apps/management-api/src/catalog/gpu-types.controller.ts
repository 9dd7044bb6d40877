import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { GpuQueryDto, GpuTypeBody, GpuTypeListBody } from '@berth/contracts/http';
import { ApiProblems, RequireScope } from '@berth/http';
import { toGpuTypeBody } from './catalog.mapper.js';
import { toGpuStockQuery } from './catalog-query.js';
import { CatalogService } from './catalog-service.js';

const RULES = [
  '`include=AVAILABILITY` and `product` come together, and all other parameters need them: else 400.',
  'Availability is what the hosts of the installation have free now, for workers of `count` GPUs each.',
].join(' ');

@ApiTags('Catalog')
@Controller('v2/catalog/gpus')
@RequireScope('catalog:read')
export class GpuTypesController {
  readonly #catalog: CatalogService;

  constructor(catalog: CatalogService) {
    this.#catalog = catalog;
  }

  @Get()
  @ApiOperation({ summary: 'List GPU types', description: RULES })
  @ApiOkResponse({ type: GpuTypeListBody })
  async list(@Query() query: GpuQueryDto): Promise<GpuTypeListBody> {
    return { gpus: (await this.#catalog.gpus(toGpuStockQuery(query))).map(toGpuTypeBody) };
  }

  @Get(':id')
  @ApiOperation({
    summary: 'Read a GPU type',
    description: `${RULES} A type that exists is found whatever is asked for; what is not there is \`NONE\`.`,
  })
  @ApiOkResponse({ type: GpuTypeBody })
  @ApiProblems('gpu-type-not-found')
  async get(@Param('id') id: string, @Query() query: GpuQueryDto): Promise<GpuTypeBody> {
    return toGpuTypeBody(await this.#catalog.gpu(id, toGpuStockQuery(query)));
  }
}
