import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '@berth/telemetry';
import { identifyProcess, isAlive, type ProcessIdentity } from './runtimes/process/process-identity.js';

/**
 * Claims the home for this process. Two agents on one journal would lose results; a dead one's claim is void.
 * @throws StartupError when another agent works there
 */
export async function claimHome(home: string): Promise<void> {
  const path = join(home, 'agent.json');
  const holder = await readHolder(path);
  if (holder !== null && holder.pid !== process.pid && (await isAlive(holder))) {
    throw new StartupError(
      `Another agent (process ${String(holder.pid)}) works in ${home}. Set BERTH_HOME to a folder of its own.`,
    );
  }
  await writeFile(path, JSON.stringify(await identifyProcess(process.pid)));
}

async function readHolder(path: string): Promise<ProcessIdentity | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as ProcessIdentity | null;
  } catch {
    // Absent, or half written by an agent that died over it: either way nobody holds it.
    return null;
  }
}
