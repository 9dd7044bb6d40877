import type { ReadReport, WantedImage } from '@berth/contracts';
import { SHIPPED_CATALOG, type EndpointId, type HostId, type ImageAhead, type Inventory } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { SeededRandom } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { HostSessionsService } from '../src/host-sessions/host-sessions-service.js';
import { ImagesAheadStore } from '../src/host-sessions/images-ahead.store.js';
import { hashHostSecret } from '../src/host-sessions/secret-hash.js';
import { Database } from '../src/persistence/database.js';
import { DemandBoard } from '../src/reconcilers/demand/demand-board.js';
import { FleetReconciler } from '../src/reconcilers/fleet-reconciler.js';
import { controllersMetrics } from '../src/reconcilers/metrics.js';
import { RegistryCredentialsService } from '../src/registries/registry-credentials-service.js';
import { ScalingHistoryStore } from '../src/scaling-history/scaling-history.store.js';
import { demandMessage, INVENTORY, observed, SPEC, useFleetBench } from './fleet-bench.js';
import { envSeal, secretBox } from './secret-box.js';

const bench = useFleetBench();

const HOST = 'h1' as HostId;
const SECRET = 'a-long-secret';

let fleet: FleetReconciler;
let sessions: HostSessionsService;
let woken: HostId[];
let sequence: number;

beforeEach(async () => {
  woken = [];
  sequence = 0;
  const { clock } = bench;
  const database = new Database(bench.source);
  const demand = new DemandBoard();
  demand.take(demandMessage(clock.nowMs(), { e1: { running: 1 } }), clock.monotonicMs());
  fleet = new FleetReconciler({
    ...{ store: bench.store, history: new ScalingHistoryStore(database), demand, clock, logger: silentLogger },
    catalog: SHIPPED_CATALOG,
    random: new SeededRandom(clock.nowMs()),
    publisher: {
      publishAssignments: async () => undefined,
      assignmentOf: () => null,
      pulse: () => undefined,
      wake: (hostId) => woken.push(hostId),
    },
    term: (await bench.leaderLease('leader', 10_000_000)).currentTerm(),
    metrics: controllersMetrics(new MetricRegistry()),
    counts: { note: () => undefined },
  });
  sessions = new HostSessionsService({
    ...{ store: bench.sessions, deletedVolumes: bench.deletedVolumes, clock, envs: envSeal() },
    catalog: SHIPPED_CATALOG,
    credentials: new RegistryCredentialsService(secretBox(), silentLogger),
    imagesAhead: new ImagesAheadStore(database),
    onChange: () => undefined,
  });
  await bench.addHost(HOST, { secretHash: hashHostSecret(SECRET), inventory: { ...INVENTORY, imagesAhead: [] } });
  const container = { ...SPEC.container, image: 'acme/worker:1' };
  await bench.addEndpoint('e1', { container, workers: { min: 1, max: 1, idleTimeoutSeconds: null } });
  await fleet.run();
  await report();
});

/** Every worker is idle. Returns the images that the host is asked for. */
async function report(
  inventory: Partial<Inventory> = { imagesAhead: [] },
): Promise<readonly WantedImage[] | undefined> {
  sequence += 1;
  const workers = (await bench.workers()).map(({ id, release }) => observed(id, 'idle', { release }));
  const said = { secret: SECRET, instanceId: 'i', sequence, inventory: { ...INVENTORY, ...inventory }, workers };
  return (await sessions.report(HOST, said satisfies ReadReport)).imagesAhead;
}

const told = (state: ImageAhead['state']): Partial<Inventory> => ({
  imagesAhead: [{ endpointId: 'e1' as EndpointId, release: 2, state, reason: '' }],
});

async function pass(): Promise<readonly string[]> {
  woken = [];
  await fleet.run();
  return (await bench.workers()).map(({ intent, release }) => `${release} ${intent}`);
}

const newRelease = async (): Promise<void> => {
  await bench.source.query(
    `INSERT INTO releases (endpoint_id, release, container)
     SELECT id, 2, jsonb_set(spec->'container', '{image}', '"acme/worker:2"') FROM endpoints WHERE id = 'e1'`,
  );
  await bench.source.query(
    `UPDATE endpoints SET release = 2, spec = jsonb_set(spec, '{container,image}', '"acme/worker:2"') WHERE id = 'e1'`,
  );
};

describe('a new release of an endpoint at its maximum', () => {
  test('has its image brought to the host before the old worker is drained', async () => {
    expect(await report()).toBeUndefined();
    await newRelease();
    expect(await pass()).toEqual(['1 running']);
    expect(woken).toEqual([HOST]);
    const wanted = [{ endpointId: 'e1', accountId: 'account', release: 2, image: 'acme/worker:2' }];
    expect(await report()).toEqual(wanted);
    expect(await pass()).toEqual(['1 running']);
    expect(woken).toEqual([]);
    await report(told('pending'));
    expect(await pass()).toEqual(['1 running']);
    expect((await bench.decision('e1'))?.starts?.pullAhead?.detail).toMatch(/^the image is brought to host h1/);
    expect(await report(told('ready'))).toEqual(wanted);
    expect(await pass()).toEqual(['1 drained']);
    expect(await report(told('ready'))).toBeUndefined();
  });

  test('waits for no host that has given up', async () => {
    await newRelease();
    await pass();
    await report(told('failed'));
    expect(await pass()).toEqual(['1 drained']);
    expect((await bench.decision('e1'))?.starts?.pullAhead?.detail).toMatch(/could not be brought to host h1 ahead/);
  });

  test('asks nothing of a host that prepares none, and waits for it no moment', async () => {
    await newRelease();
    expect(await report({})).toBeUndefined();
    expect(await pass()).toEqual(['1 drained']);
  });
});
