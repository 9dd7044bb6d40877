import { Controller, Get, Inject, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '@berth/http';
import { AUDIT_RECORDS } from './audit-records.port.js';
import type { AuditRecord, AuditRecords } from './audit-records.port.js';
import { AuditListBody, AuditQueryDto, AUDIT_LIMIT_DEFAULT, type AuditEntryBody } from './audit.dto.js';

@ApiTags('Audit')
@Controller('v2/audit')
export class AuditController {
  readonly #records: AuditRecords;

  constructor(@Inject(AUDIT_RECORDS) records: AuditRecords) {
    this.#records = records;
  }

  @Get()
  @RequireScope('admin')
  @ApiOperation({
    summary: 'List who changed what, and when',
    description: 'Every change through this interface, of all accounts. Entries are never changed or removed.',
  })
  @ApiOkResponse({ type: AuditListBody })
  async list(
    @Query() { accountId, cursor, limit = AUDIT_LIMIT_DEFAULT, resourceId }: AuditQueryDto,
  ): Promise<AuditListBody> {
    const page = await this.#records.list({
      ...(accountId === undefined ? {} : { accountId }),
      ...(resourceId === undefined ? {} : { resourceId }),
      ...(cursor === undefined ? {} : { beforeId: cursor }),
      limit,
    });
    return { entries: page.map(toAuditEntryBody), cursor: page.length < limit ? null : (page.at(-1)?.id ?? null) };
  }
}

const toAuditEntryBody = ({ atMs, ...record }: AuditRecord): AuditEntryBody => ({
  ...record,
  at: new Date(atMs).toISOString(),
});
