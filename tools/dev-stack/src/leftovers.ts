import { join } from 'node:path';
import { stopLeftover } from '@berth/servers';
import { APP_PROCESS_NAMES, type AppProcessName } from './app-processes.js';
import { closeNamespaces } from './host-networks/index.js';

/** Says which process of that name runs for this home. */
export const pidFileOf = (home: string, name: AppProcessName): string => join(home, `${name}.pid`);

/**
 * Ends what a launcher that was killed left running, however many routers and hosts it had. They end by themselves, too; who takes
 * their ports has to wait for it.
 */
export async function endLeftovers(home: string): Promise<void> {
  await Promise.all(APP_PROCESS_NAMES.map((name) => stopLeftover(pidFileOf(home, name))));
  await Promise.all([
    stopLeftover(join(home, 'nats/nats-server.pid')),
    stopLeftover(join(home, 'postgres/postgres.pid'), { signal: 'SIGINT' }),
  ]);
  await closeNamespaces(home);
}
