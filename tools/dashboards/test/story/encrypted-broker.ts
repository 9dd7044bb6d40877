import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { watchCertificates } from '@berth/messaging';
import { openProcess, silentLogger } from '@berth/telemetry';
import { certifyLoopback } from '@berth/testing/servers';

type Stop = () => Promise<void> | void;

/** The stack has its broker on this machine, in the clear; so what is said of certificates is said of one beside it. */
export class EncryptedBroker {
  readonly #stops: readonly Stop[];
  /** Where a process that looks at it tells its metrics: `127.0.0.1:40123` */
  readonly target: string;

  private constructor(target: string, stops: readonly Stop[]) {
    this.target = target;
    this.#stops = stops;
  }

  /** @param folder for its certificate */
  static async start(folder: string): Promise<EncryptedBroker> {
    const { tls } = await certifyLoopback(folder, 365);
    const server = createServer({ cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const stops: Stop[] = [() => void server.close()];
    const parts = { name: 'encrypted', clock: systemClock, random: systemRandom, logger: silentLogger };
    const onStop = (_: string, stop: Stop): void => void stops.push(stop);
    const looking = await openProcess({ ...parts, onStop }, { host: '127.0.0.1', port: 0 });
    watchCertificates(looking, `tls://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return new EncryptedBroker(`127.0.0.1:${looking.operationsPort}`, stops);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.toReversed()) await stop();
  }
}
