import { connect } from 'node:net';
import { ConfigError } from '@berth/lifecycle';
import type { StackConfig } from './config.js';

const ANSWER_WITHIN_MS = 5_000;
const NATS_PORT = 4_222;
const POSTGRES_PORT = 5_432;

/**
 * Asks the servers that were given instead of our own, before anything is started that would wait for them.
 *
 * @throws ConfigError naming each setting at whose address nothing answers
 */
export async function assertOutsideServers({
  natsUrl,
  databaseUrl,
}: Pick<StackConfig, 'natsUrl' | 'databaseUrl'>): Promise<void> {
  const problems = await Promise.all([
    problemOf('BERTH_NATS_URL', natsUrl, NATS_PORT),
    problemOf('BERTH_DATABASE_URL', databaseUrl, POSTGRES_PORT),
  ]);
  const found = problems.filter((problem) => problem !== null);
  if (found.length > 0) throw new ConfigError(found);
}

async function problemOf(variable: string, url: string | null, portDefault: number): Promise<string | null> {
  if (url === null) return null;
  const { hostname, port } = new URL(url);
  // A database may be named by its socket, which stands in the parameters.
  if (hostname === '') return null;
  const reason = await whyNoAnswer(hostname.replace(/^\[|\]$/g, ''), port === '' ? portDefault : Number(port));
  // The whole address may hold a password.
  return reason === null ? null : `${variable}: nothing answers at ${hostname}:${port || portDefault} (${reason})`;
}

function whyNoAnswer(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: ANSWER_WITHIN_MS });
    const settle = (reason: string | null): void => {
      socket.destroy();
      resolve(reason);
    };
    socket.once('connect', () => {
      settle(null);
    });
    socket.once('timeout', () => {
      settle(`no answer within ${ANSWER_WITHIN_MS} ms`);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      settle(error.code ?? error.message);
    });
  });
}
