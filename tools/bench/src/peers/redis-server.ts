import { join } from 'node:path';
import { CommandError, allocatePorts, makeTempFolder, runCommand, spawnServer } from '@berth/servers';

/** How often Redis syncs its append-only file: `always` is what an acknowledged job of ours gets. */
export type RedisSync = 'everysec' | 'always';

export interface RedisServer {
  readonly port: number;
  readonly pid: number;
  stop(): Promise<void>;
}

const VERSION_MS = 5_000;

/** False where no redis-server is on PATH. */
export async function hasRedis(): Promise<boolean> {
  try {
    await runCommand('redis-server', ['--version'], { timeoutMs: VERSION_MS });
    return true;
  } catch (error) {
    if (error instanceof CommandError) return false;
    throw error;
  }
}

/** A Redis of its own with an append-only file, on a free port. */
export async function startRedis(sync: RedisSync): Promise<RedisServer> {
  const folder = await makeTempFolder('berth-bench-redis-');
  const reserved = await allocatePorts(1);
  const [port = 0] = reserved.ports;
  await reserved.release();
  const server = await spawnServer({
    name: 'redis-server',
    executable: 'redis-server',
    args: ['--port', String(port), '--bind', '127.0.0.1', '--appendonly', 'yes', '--appendfsync', sync, '--save', ''],
    folder: folder.path,
    logFile: join(folder.path, 'redis.log'),
    pidFile: join(folder.path, 'redis.pid'),
    stopSignal: 'SIGTERM',
  });
  return {
    port,
    pid: server.pid,
    stop: async () => {
      await server.stop();
      await folder.remove();
    },
  };
}
