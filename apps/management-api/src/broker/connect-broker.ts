import { connectNats, type ConnectNatsOptions, type NatsCredentials } from '@berth/messaging';
import { systemClock, systemRandom } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';

const CONNECT_WITHIN_MS = 30_000;

/** Without a seed the broker is not Berth's own, and its address says who we are. */
export const credentialsOf = (seed: string | null): NatsCredentials =>
  seed === null ? { kind: 'none' } : { kind: 'nkey', seed };

/** One of this process's connections to the broker; the caller closes it. */
export function connectBroker(
  { natsUrl: url, logger }: { readonly natsUrl: string; readonly logger: Logger },
  as: { readonly seed: string | null } & Pick<ConnectNatsOptions, 'name' | 'inboxPrefix' | 'isFirst'>,
): Promise<NatsConnection> {
  const { seed, ...identity } = as;
  return connectNats({
    url,
    ...identity,
    credentials: credentialsOf(seed),
    connectWithinMs: CONNECT_WITHIN_MS,
    clock: systemClock,
    random: systemRandom,
    onStatus: ({ detail, kind }) => {
      logger.info(`nats: ${kind}`, { connection: as.name, detail });
    },
  });
}
