import type { INestApplicationContext } from '@nestjs/common';
import type { JobOperation } from '@berth/domain';
import { declaredAccess, routeHandlers } from '@berth/http';
import { OPERATION_METADATA } from './limited-as.decorator.js';

/** @throws Error naming every handler that needs a key and has no limits. Run at start-up: forgetting is not an option. */
export function assertOperationsDeclared(app: INestApplicationContext): void {
  const access = declaredAccess(app);
  const unlimited = routeHandlers(app).filter(
    ({ name, declared }) =>
      access.get(name)?.kind === 'scope' && declared<JobOperation>(OPERATION_METADATA) === undefined,
  );
  if (unlimited.length === 0) return;
  throw new Error(`Handlers without @JobOperation: ${unlimited.map(({ name }) => name).join(', ')}`);
}
