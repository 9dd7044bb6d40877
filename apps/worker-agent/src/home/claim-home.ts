import { join } from 'node:path';
import { claimFolder, type FolderClaim, type Random } from '@berth/lifecycle';
import { StartupError } from '@berth/telemetry';

const FOLDER = 'claims';

/**
 * Claims the home for this process: two agents on one journal would lose results.
 *
 * @throws StartupError when another agent works there, or the home's file system holds no sockets
 */
export async function claimHome(home: string, random: Random): Promise<FolderClaim> {
  const claim = await claimFolder(join(home, FOLDER), random).catch((error: unknown) => {
    throw notClaimable(home, error);
  });
  if (claim !== null) return claim;
  throw new StartupError(`Another agent works in ${home}. Set BERTH_HOME to a folder of its own.`);
}

function notClaimable(home: string, cause: unknown): StartupError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new StartupError(`${home} cannot be claimed: ${why}. Set BERTH_HOME to a folder on a local disk.`, { cause });
}
