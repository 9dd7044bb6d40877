import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, connectNats } from '@berth/messaging';

const CONNECT_WITHIN_MS = 10_000;

/** The caller closes its connection. */
export async function openBroker(url: string): Promise<Broker> {
  const connection = await connectNats({
    url,
    name: 'bench',
    credentials: { kind: 'none' },
    connectWithinMs: CONNECT_WITHIN_MS,
    clock: systemClock,
    random: systemRandom,
  });
  return Broker.over({ connection });
}
