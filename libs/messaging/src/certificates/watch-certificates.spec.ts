import { readFile } from 'node:fs/promises';
import { createServer as createPlainServer, type AddressInfo, type Server } from 'node:net';
import { createServer } from 'node:tls';
import { systemClock } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { certifyLoopback } from '@berth/testing/servers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { watchCertificates } from './watch-certificates.js';

const DAY_MS = 86_400_000;
const LOOK_EVERY_MS = 600_000;
const [MONTH, YEAR] = [30, 365];
const newFolder = useTempFolders();

let clock: ManualClock;
let metrics: MetricRegistry;
let ends: (() => Promise<void> | void)[];
beforeEach(() => {
  [clock, metrics, ends] = [new ManualClock(), new MetricRegistry(), []];
});
afterEach(async () => {
  for (const end of ends) await end();
});

const watch = (url: string): void =>
  watchCertificates({ clock, metrics, logger: silentLogger, onStop: (_, stop) => void ends.push(stop) }, url);

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function certified(days: number): Promise<{ readonly cert: Buffer; readonly key: Buffer }> {
  const { tls } = await certifyLoopback(await newFolder(), days);
  return { cert: await readFile(tls.certFile), key: await readFile(tls.keyFile) };
}

/** By server: how many days are left. */
async function daysLeft(): Promise<Readonly<Record<string, number>>> {
  const line = /^berth_certificate_expires_timestamp_seconds\{kind="broker",server="([^"]*)"\} (\S+)$/gm;
  const shown = [...(await metrics.text()).matchAll(line)];
  return Object.fromEntries(
    shown.map(([, server = '', end]) => [server, Math.round((Number(end) * 1_000 - systemClock.nowMs()) / DAY_MS)]),
  );
}

test('each broker is asked for its certificate, and again, since it may have been renewed', async () => {
  const renewed = createServer(await certified(MONTH));
  const [first, second] = [await listen(renewed), await listen(createServer(await certified(YEAR)))];
  watch(`tls://${first},${second}`);
  await eventually(async () => expect(await daysLeft()).toEqual({ [first]: MONTH, [second]: YEAR }));
  renewed.setSecureContext(await certified(YEAR));
  await clock.advance(LOOK_EVERY_MS);
  await eventually(async () => expect(await daysLeft()).toEqual({ [first]: YEAR, [second]: YEAR }));
});

test('what was seen of a broker that is away stays, and one that speaks no TLS shows none', async () => {
  const server = createServer(await certified(MONTH));
  const [away, plain] = [await listen(server), await listen(createPlainServer((socket) => socket.end('INFO {}\r\n')))];
  watch(`tls://${away},tls://${plain}`);
  await eventually(async () => expect(await daysLeft()).toEqual({ [away]: MONTH }));
  server.close();
  await clock.advance(LOOK_EVERY_MS);
  expect(await daysLeft()).toEqual({ [away]: MONTH });
});

test('of a broker that is reached in the clear there is nothing to say', async () => {
  watch(`nats://${await listen(createServer(await certified(MONTH)))}`);
  expect(await daysLeft()).toEqual({});
});
