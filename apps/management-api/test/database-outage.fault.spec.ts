import { BUCKETS, type EndpointSnapshot } from '@berth/contracts';
import { systemClock } from '@berth/lifecycle';
import { Broker } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { composeResync } from '../src/snapshots/compose-resync.js';
import { composeSnapshots } from '../src/snapshots/compose-snapshots.js';
import { Database } from '../src/persistence/database.js';
import { QUEUE_ENDPOINT, each, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi({ environment: { BERTH_LOG_LEVEL: 'warn', BERTH_LOG_FORMAT: 'line' } });

const CALLERS = 20;
/** Connections of one process, and a few more. */
const CROWD = 25;
const PATIENCE = { deadlineMs: 90_000, intervalMs: 100 };
/** A connection or a row is waited for 5 s, a statement takes 10 s at most; a busy machine adds to it. */
const ANSWERED_WITHIN_MS = 20_000;
/** The grace of a snapshot without a row, and the pass after it. */
const GRACE_MS = 60_000;
const PASS_MS = 30_000;

/** What the process logs meanwhile. */
const logged: string[] = [];
const output = jest.spyOn(process.stdout, 'write').mockImplementation((line) => logged.push(String(line)) > 0);
afterAll(() => {
  output.mockRestore();
});

/** What the callers were told, by all of them together. */
class Load {
  readonly refusals: Answer[] = [];
  readonly created = new Set<string>();
  readonly deleted = new Set<string>();
  /** Nobody knows whether their deletion happened. */
  readonly doubtful = new Set<string>();
  readonly strange: unknown[] = [];
  slowestMs = 0;
  /** Of calls that did what they should. */
  successes = 0;
  #isOver = false;

  start(): Promise<void> {
    return Promise.all(Array.from({ length: CALLERS }, (_, number) => this.#live(number))).then(() => undefined);
  }

  end(): void {
    this.#isOver = true;
  }

  async #live(number: number): Promise<void> {
    for (let turn = number; !this.#isOver; turn += 1) {
      const made = await this.#call('POST /v2/serverless', [201], QUEUE_ENDPOINT);
      if (made === null) continue;
      const id = (made.body as { id: string }).id;
      this.created.add(id);
      await this.#call(`GET /v2/serverless/${id}`, [200]);
      await this.#call(`PATCH /v2/serverless/${id}`, [200], { name: `changed ${String(turn)}` });
      if (turn % 2 === 0) await this.#delete(id);
    }
  }

  async #delete(id: string): Promise<void> {
    const answer = await this.#call(`DELETE /v2/serverless/${id}`, [204]);
    (answer === null ? this.doubtful : this.deleted).add(id);
  }

  /** Null when the service said that it cannot now. */
  async #call(request: string, expected: readonly number[], body?: unknown): Promise<Answer | null> {
    const startedMs = systemClock.monotonicMs();
    const answer = await bench.call(request, body === undefined ? {} : { body });
    this.slowestMs = Math.max(this.slowestMs, systemClock.monotonicMs() - startedMs);
    if (expected.includes(answer.status)) {
      this.successes += 1;
      return answer;
    }
    if (answer.status === 503) this.refusals.push(answer);
    else this.strange.push([request, answer.status, answer.body]);
    return null;
  }
}

/** All that the routers would learn. */
async function snapshots(): Promise<ReadonlyMap<string, EndpointSnapshot>> {
  const writer = bench.writerOf<EndpointSnapshot>(BUCKETS.endpoints);
  const entries = (await writer.keys()).map(async (key) => [key, (await writer.read(key))?.value] as const);
  return new Map(
    (await Promise.all(entries)).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const])),
  );
}

/** The loop of one more process, whose clock is turned until nothing is left that it would put right. */
async function resync(): Promise<void> {
  const clock = new ManualClock(systemClock.nowMs());
  const broker = await Broker.over({ connection: await bench.nats.connect() });
  const database = new Database(bench.source);
  const metrics = new MetricRegistry();
  const parts = { broker, database, transactions: database, clock, logger: silentLogger, metrics };
  const nothing = { run: () => Promise.resolve() };
  const loop = await composeResync({
    ...parts,
    snapshots: composeSnapshots(parts),
    filling: nothing,
    forgetting: nothing,
  });
  await eventually(() => loop.check(), PATIENCE);
  for (let passedMs = 0; passedMs <= GRACE_MS; passedMs += PASS_MS) await clock.advance(PASS_MS);
  await eventually(async () => {
    await clock.advance(PASS_MS);
    const rows = await bench.source.query<{ id: string }[]>('SELECT id FROM endpoints ORDER BY id');
    const known = [...(await snapshots()).keys()].toSorted();
    expect(known).toEqual(rows.map(({ id }) => id));
  }, PATIENCE);
  await loop.stop();
}

const reached = (count: () => number, atLeast: number): Promise<void> =>
  eventually(() => {
    expect(count()).toBeGreaterThanOrEqual(atLeast);
  }, PATIENCE);

describe('a database that crashes and comes back under load', () => {
  const load = new Load();

  test('is told in time as a problem that passes, and needs no restart', async () => {
    const over = load.start();
    await reached(() => load.successes, 10 * CALLERS);
    await bench.postgres.server.kill();
    await reached(() => load.refusals.length, 2 * CALLERS);
    await bench.postgres.restart('kill');
    const before = load.successes;
    await reached(() => load.successes - before, 10 * CALLERS);
    load.end();
    await over;
    expect(load.strange).toEqual([]);
    expect(load.slowestMs).toBeLessThan(ANSWERED_WITHIN_MS);
    for (const { body, headers } of load.refusals) {
      expect(body).toMatchObject({ type: 'https://api.example.com/docs/problems/service-unavailable', status: 503 });
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  test('keeps every endpoint that was answered, and shows it', async () => {
    const listed = new Set(each(await bench.call('GET /v2/serverless'), 'endpoints', 'id'));
    const kept = [...load.created].filter((id) => !load.deleted.has(id) && !load.doubtful.has(id));
    expect(kept.filter((id) => !listed.has(id))).toEqual([]);
    expect([...load.deleted].filter((id) => listed.has(id))).toEqual([]);
  });

  test('has no half of an endpoint', async () => {
    const halves = await bench.source.query(
      `SELECT e.id, e.release, r.releases, a.made
         FROM endpoints e,
              LATERAL (SELECT array_agg(release ORDER BY release) AS releases FROM releases r WHERE r.endpoint_id = e.id) r,
              LATERAL (SELECT count(*) AS made FROM audit_entries a
                        WHERE a.resource_id = e.id AND a.action = 'endpoint.created') a
        WHERE r.releases IS DISTINCT FROM ARRAY(SELECT generate_series(1, e.release)) OR a.made <> 1`,
    );
    expect(halves).toEqual([]);
    const orphans = await bench.source.query(
      `SELECT resource_id FROM audit_entries a
        WHERE action LIKE 'endpoint.%' AND NOT EXISTS (SELECT 1 FROM endpoints e WHERE e.id = a.resource_id)`,
    );
    expect(orphans).toEqual([]);
  });

  test('is what the routers know, once the buckets have been compared with it', async () => {
    await resync();
    const rows = await bench.source.query<{ id: string; is_deleted: boolean }[]>(
      'SELECT id, deleted_at IS NOT NULL AS is_deleted FROM endpoints',
    );
    const known = await snapshots();
    expect(known.size).toBe(rows.length);
    for (const { id, is_deleted: isDeleted } of rows) expect(known.get(id)).toMatchObject({ id, isDeleted });
  });
});

describe('is refused in time, and logged with its cause', () => {
  const timed = async (calls: readonly Promise<Answer>[]): Promise<{ statuses: number[]; tookMs: number }> => {
    const startedMs = systemClock.monotonicMs();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    return { statuses, tookMs: systemClock.monotonicMs() - startedMs };
  };

  test('a crowd that waits for a table which somebody holds, beyond the last connection', async () => {
    const holder = bench.source.createQueryRunner();
    await holder.startTransaction();
    await holder.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await holder.query('LOCK TABLE endpoints');
    const calls = Array.from({ length: CROWD }, () => bench.call('GET /v2/serverless'));
    const { statuses, tookMs } = await timed(calls);
    expect(statuses).toEqual(Array.from({ length: CROWD }, () => 503));
    expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(logged.join('')).toContain('canceling statement due to lock timeout');
    await holder.rollbackTransaction();
    await holder.release();
    expect((await bench.call('GET /v2/serverless')).status).toBe(200);
  });

  test('a statement that does not end', async () => {
    await bench.source.query(
      `CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$`,
    );
    await bench.source.query('CREATE TRIGGER dawdles BEFORE INSERT ON releases EXECUTE FUNCTION dawdle()');
    const { statuses, tookMs } = await timed([bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })]);
    expect(statuses).toEqual([503]);
    expect(tookMs).toBeLessThan(ANSWERED_WITHIN_MS);
    expect(logged.join('')).toContain('canceling statement due to statement timeout');
    await bench.source.query('DROP TRIGGER dawdles ON releases');
    expect((await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).status).toBe(201);
  });
});
