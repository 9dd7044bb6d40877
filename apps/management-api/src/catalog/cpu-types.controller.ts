import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CpuQueryDto, CpuTypeBody, CpuTypeListBody } from '@berth/contracts/http';
import { ApiProblems, RequireScope } from '@berth/http';
import { toCpuTypeBody } from './catalog.mapper.js';
import { toCpuStockQuery } from './catalog-query.js';
import { CatalogService } from './catalog-service.js';

const RULES = [
  '`include=AVAILABILITY` and `product` come together, and `vcpuCount` needs them: else 400.',
  'Availability is what the hosts of the installation have free now.',
].join(' ');

@ApiTags('Catalog')
@Controller('v2/catalog/cpus')
@RequireScope('catalog:read')
export class CpuTypesController {
  readonly #catalog: CatalogService;

  constructor(catalog: CatalogService) {
    this.#catalog = catalog;
  }

  @Get()
  @ApiOperation({ summary: 'List CPU flavors', description: RULES })
  @ApiOkResponse({ type: CpuTypeListBody })
  async list(@Query() query: CpuQueryDto): Promise<CpuTypeListBody> {
    return { cpus: (await this.#catalog.cpus(toCpuStockQuery(query))).map(toCpuTypeBody) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a CPU flavor', description: RULES })
  @ApiOkResponse({ type: CpuTypeBody })
  @ApiProblems('cpu-flavor-not-found')
  async get(@Param('id') id: string, @Query() query: CpuQueryDto): Promise<CpuTypeBody> {
    return toCpuTypeBody(await this.#catalog.cpu(id, toCpuStockQuery(query)));
  }
}
