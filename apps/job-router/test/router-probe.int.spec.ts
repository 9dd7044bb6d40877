import { ROUTER_INBOX, routerSubject } from '@berth/contracts';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RouterProbe } from '../src/owner/router-probe.js';

const nats = useNatsServer();

let clock: ManualClock;
let known: Set<string>;
let probes: RouterProbe[];
let own: NatsConnection;
let told: string[];

beforeEach(async () => {
  [clock, known, probes, told] = [new ManualClock(), new Set(), [], []];
  own = await nats.connect({ inboxPrefix: ROUTER_INBOX });
});
afterEach(() => {
  for (const probe of probes) probe.stop();
});

async function start(incarnation: string, connection: NatsConnection, hasOneBroker = true): Promise<RouterProbe> {
  const probe = new RouterProbe({
    ...{ connection, incarnation, routers: () => known, hasOneBroker, clock },
    onDead: (dead) => told.push(`${dead} by ${incarnation}`),
  });
  probes.push(probe);
  probe.start();
  await connection.flush();
  return probe;
}

/** Another router's process, as far as it shows that it is there. */
async function startOther(incarnation: string): Promise<NatsConnection> {
  const connection = await nats.connect({ inboxPrefix: ROUTER_INBOX });
  await start(incarnation, connection);
  known.add(incarnation);
  return connection;
}

/** Looks of the probe until there is nothing more to say: each answer comes from the broker. */
const look = async (probe: RouterProbe, check: () => void): Promise<void> => {
  await eventually(async () => {
    await clock.advance(400);
    check();
  });
  expect(probe.dead.has('own')).toBe(false);
};

describe('a router whose process', () => {
  test('is there is not proven dead, however often it is looked at', async () => {
    const probe = await start('own', own);
    await startOther('alive');
    known.add('own');
    known.add('gone');
    await look(probe, () => expect([...probe.dead]).toEqual(['gone']));
    for (let looks = 0; looks < 10; looks += 1) {
      await clock.advance(400);
      await own.flush();
    }
    expect([...probe.dead]).toEqual(['gone']);
    expect(told.filter((each) => each.endsWith('by own'))).toEqual(['gone by own']);
  });

  test('is gone is proven dead, and forgotten when nothing tells of it any more', async () => {
    const probe = await start('own', own);
    const other = await startOther('other');
    await clock.advance(400);
    await own.flush();
    await other.close();
    await look(probe, () => expect([...probe.dead]).toEqual(['other']));
    known.delete('other');
    await look(probe, () => expect(probe.dead.size).toBe(0));
  });

  test('was cut off and is back is not dead any more', async () => {
    const probe = await start('own', own);
    known.add('other');
    await look(probe, () => expect([...probe.dead]).toEqual(['other']));
    await startOther('other');
    await look(probe, () => expect(probe.dead.size).toBe(0));
  });
});

test('one look alone proves nothing', async () => {
  const probe = await start('own', own);
  known.add('other');
  await clock.advance(400);
  await own.flush();
  await own.flush();
  expect(probe.dead.size).toBe(0);
  await look(probe, () => expect(probe.dead.size).toBe(1));
});

test('with several brokers nobody is proven dead, and everybody answers all the same', async () => {
  const probe = await start('own', own, false);
  known.add('gone');
  for (let looks = 0; looks < 10; looks += 1) {
    await clock.advance(400);
    await own.flush();
  }
  expect(probe.dead.size).toBe(0);
  const asker = await nats.connect({ inboxPrefix: ROUTER_INBOX });
  expect((await asker.request(routerSubject('own'))).data).toHaveLength(0);
});

test('nobody is proven dead just after the connection came back, since others may be on their way back still', async () => {
  const probe = await start('own', own);
  known.add('other');
  await nats.restart('kill');
  await eventually(() => own.flush());
  for (let waitedMs = 0; waitedMs < 4_800; waitedMs += 400) {
    await clock.advance(400);
    await own.flush();
  }
  expect(probe.dead.size).toBe(0);
  await look(probe, () => expect([...probe.dead]).toEqual(['other']));
});
