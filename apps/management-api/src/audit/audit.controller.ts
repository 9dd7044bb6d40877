import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AuditListBody, AuditQueryDto, AUDIT_LIMIT_DEFAULT, type AuditEntryBody } from '@berth/contracts/http';
import { RequireScope } from '@berth/http';
import { AuditStore, type AuditRecord } from './audit.store.js';

@ApiTags('Audit')
@Controller('v2/audit')
export class AuditController {
  readonly #audit: AuditStore;

  constructor(audit: AuditStore) {
    this.#audit = audit;
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
    const page = await this.#audit.list({
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
