import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { DataCenterIncludeDto, DataCenterQueryDto, DataCenterBody, DataCenterListBody } from '@berth/contracts/http';
import { ApiProblems, RequireScope } from '@berth/http';
import { toDataCenterBody } from './catalog.mapper.js';
import { toDataCenterFilter, toDataCenterStockQuery } from './catalog-query.js';
import { CatalogService } from './catalog-service.js';

@ApiTags('Catalog')
@Controller('v2/catalog/data-centers')
@RequireScope('catalog:read')
export class DataCentersController {
  readonly #catalog: CatalogService;

  constructor(catalog: CatalogService) {
    this.#catalog = catalog;
  }

  @Get()
  @ApiOperation({
    summary: 'List data centers',
    description: 'Published ones and those in which hosts stand. Filters of different kinds all have to hold.',
  })
  @ApiOkResponse({ type: DataCenterListBody })
  async list(@Query() query: DataCenterQueryDto): Promise<DataCenterListBody> {
    const entries = await this.#catalog.dataCenters(toDataCenterFilter(query), toDataCenterStockQuery(query));
    return { dataCenters: entries.map(toDataCenterBody) };
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a data center' })
  @ApiOkResponse({ type: DataCenterBody })
  @ApiProblems('data-center-not-found')
  async get(@Param('id') id: string, @Query() query: DataCenterIncludeDto): Promise<DataCenterBody> {
    return toDataCenterBody(await this.#catalog.dataCenter(id, toDataCenterStockQuery(query)));
  }
}

/** The same under the path that clients in the field use. */
@Controller('v2/catalog/datacenters')
@RequireScope('catalog:read')
export class DataCenterAliasesController extends DataCentersController {}
