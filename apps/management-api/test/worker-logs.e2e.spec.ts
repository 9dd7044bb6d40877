import {
  inboxPrefix,
  logAnswerSubject,
  logsSubject,
  readLogsRequest,
  type WorkerLogPage,
  type LogsRequest,
} from '@berth/contracts';
import { requireRead } from '@berth/domain/shape';
import { GB_BYTES, type HostId, type LogLine, type WorkerId } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();
const SLOW = { deadlineMs: 90_000 };
const AT_MS = Date.parse('2026-06-01T12:00:00.000Z');

/** A host's agent by script: what it keeps of its workers' logs is what the test puts here. */
class ScriptedAgent {
  readonly lines = new Map<string, LogLine[]>();
  readonly ended = new Set<string>();
  readonly asked: LogsRequest[] = [];
  #stop: (() => void) | undefined;

  async connect(hostId: string): Promise<void> {
    const connection = await bench.nats.connect({ inboxPrefix: inboxPrefix(hostId as HostId) });
    const below = logAnswerSubject(hostId as HostId, '');
    this.#stop = new AgentTransport(connection).answer(logsSubject(hostId as HostId), below, async (body) => {
      const request = requireRead(readLogsRequest(body));
      this.asked.push(request);
      const pages = (): WorkerLogPage[] => request.cursors.map((cursor) => this.#page(cursor, request));
      const news = async (): Promise<void> => {
        if (pages().every(({ lines, state }) => lines.length === 0 && state === 'open')) throw new Error('nothing yet');
      };
      await eventually(news, { deadlineMs: 500 }).catch(() => undefined);
      return { pages: pages() };
    });
    await connection.flush();
  }

  print(workerId: string, ...texts: readonly string[]): void {
    const lines = this.lines.get(workerId) ?? [];
    this.lines.set(workerId, lines);
    for (const text of texts) {
      const sequence = lines.length + 1;
      lines.push({ sequence, atMs: AT_MS + sequence * 1_000, source: 'container', line: text });
    }
  }

  close(): void {
    this.#stop?.();
  }

  #page({ after, workerId }: LogsRequest['cursors'][number], { tail = Infinity }: LogsRequest): WorkerLogPage {
    const all = this.lines.get(workerId);
    if (all === undefined) return { workerId, state: 'unknown', lines: [], next: 0, missing: 0 };
    const from = after ?? Math.max(0, all.length - tail);
    const state = this.ended.has(workerId) ? 'ended' : 'open';
    return { workerId, state, lines: all.slice(from), next: all.length, missing: 0 };
  }
}

interface Told {
  readonly event?: string;
  readonly id?: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly data: any;
}

/** Reads a stream as it comes. */
class Reader {
  readonly told: Told[] = [];
  readonly #leave = new AbortController();
  isOver = false;
  headers: Headers | undefined;

  constructor(path: string, { key = bench.operatorKey, lastEventId }: { key?: string; lastEventId?: string } = {}) {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    };
    void this.#read(`${bench.url}${path}`, headers);
  }

  get lines(): readonly string[] {
    return this.told.flatMap(({ data }) => (data.line === undefined ? [] : [data.line as string]));
  }

  leave(): void {
    this.#leave.abort();
  }

  async #read(url: string, headers: Record<string, string>): Promise<void> {
    try {
      const response = await fetch(url, { headers, signal: this.#leave.signal });
      this.headers = response.headers;
      let text = '';
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk as Uint8Array).toString();
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        this.told.push(...events.flatMap(parse));
      }
      this.isOver = true;
    } catch (error) {
      if (!this.#leave.signal.aborted) throw error;
    }
  }
}

function parse(event: string): readonly Told[] {
  const fields = new Map(
    event.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const [data, id, name] = [fields.get('data'), fields.get('id'), fields.get('event')];
  if (data === undefined) return [];
  return [
    { data: JSON.parse(data), ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { event: name }) },
  ];
}

let endpointId: string;
let hostId: string;
let agent: ScriptedAgent;
let readers: Reader[] = [];
let workers = 0;

beforeAll(async () => {
  endpointId = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
});
beforeEach(async () => {
  const invited = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host', dataCenterId: 'EU-1' } });
  hostId = invited.body.hostId;
  agent = new ScriptedAgent();
  await agent.connect(hostId);
});
afterEach(async () => {
  for (const reader of readers) reader.leave();
  readers = [];
  agent.close();
  await bench.source.query('DELETE FROM workers');
  await bench.source.query('DELETE FROM departed_workers');
});

async function place(of = endpointId): Promise<WorkerId> {
  workers += 1;
  const id = `worker${String(workers)}`;
  const resources = { vcpus: 2, memoryBytes: 4 * GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 };
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources) VALUES ($1, $2, $3, 1, 'running', $4)`,
    [id, of, hostId, JSON.stringify(resources)],
  );
  return id as WorkerId;
}

async function depart(id: string): Promise<void> {
  await bench.source.query('DELETE FROM workers WHERE id = $1', [id]);
  await bench.source.query('INSERT INTO departed_workers (worker_id, endpoint_id, host_id) VALUES ($1, $2, $3)', [
    id,
    endpointId,
    hostId,
  ]);
}

function read(path: string, options: { key?: string; lastEventId?: string } = {}): Reader {
  const reader = new Reader(`/v2/serverless/${endpointId}${path}`, options);
  readers.push(reader);
  return reader;
}

describe('the log of a worker', () => {
  test('is told from its last lines on, as it grows, in the published form', async () => {
    const id = await place();
    agent.print(id, 'one', 'two', 'three');
    const reader = read(`/workers/${id}/logs?tail=2`);
    await eventually(() => expect(reader.lines).toEqual(['two', 'three']), SLOW);
    expect(reader.told[0]).toEqual({
      id: '2026-06-01T12:00:02.000Z/000000000002',
      data: { ts: '2026-06-01T12:00:02.000Z', source: 'container', line: 'two' },
    });
    agent.print(id, 'four');
    await eventually(() => expect(reader.lines).toEqual(['two', 'three', 'four']), SLOW);
    expect(Object.fromEntries(reader.headers ?? [])).toMatchObject({
      'content-type': expect.stringContaining('text/event-stream'),
      'cache-control': 'no-cache',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
    expect(agent.asked[0]).toMatchObject({ endpointId, cursors: [{ workerId: id, after: null }], tail: 2 });
  });

  test('goes on behind Last-Event-ID, which counts before since, and asks the host for what the query names', async () => {
    const id = await place();
    agent.print(id, 'one', 'two', 'three');
    const since = '2026-06-01T12:00:00Z';
    const reader = read(`/workers/${id}/logs?since=${since}&source=container`, {
      lastEventId: '2026-06-01T12:00:02Z/000000000002',
    });
    await eventually(() => expect(reader.lines).toEqual(['three']), SLOW);
    expect(agent.asked[0]).toMatchObject({
      cursors: [{ workerId: id, after: 2 }],
      source: 'container',
      sinceMs: Date.parse(since),
    });
    expect(agent.asked[0]).not.toHaveProperty('tail');
  });

  test('of one that is gone is told to its last line, and then ends', async () => {
    const id = await place();
    agent.print(id, 'last words');
    agent.ended.add(id);
    await depart(id);
    const reader = read(`/workers/${id}/logs`);
    await eventually(() => expect(reader.isOver).toBe(true), SLOW);
    expect(reader.told.at(-1)).toEqual({ event: 'end', data: {} });
    expect(reader.lines).toEqual(['last words']);
  });

  test('waits for a host that has not heard of its worker yet, and is over once nobody keeps it any more', async () => {
    const id = await place();
    const reader = read(`/workers/${id}/logs`);
    await eventually(() => expect(agent.asked.length).toBeGreaterThan(0), SLOW);
    agent.print(id, 'here');
    await eventually(() => expect(reader.lines).toEqual(['here']), SLOW);
    agent.lines.delete(id);
    await depart(id);
    await eventually(() => expect(reader.isOver).toBe(true), SLOW);
    expect(reader.lines).toEqual(['here', 'nothing of its log is kept any more']);
  });

  test('says that its host does not answer, once, and goes on when it does', async () => {
    const id = await place();
    agent.close();
    const reader = read(`/workers/${id}/logs`);
    await eventually(() => expect(reader.lines).toEqual([expect.stringContaining('does not answer')]), SLOW);
    expect(reader.told[0]?.data.source).toBe('system');
    expect(reader.told[0]).not.toHaveProperty('id');
    agent.print(id, 'back');
    await agent.connect(hostId);
    await eventually(
      () => expect(reader.lines.slice(1)).toEqual([expect.stringContaining('answers again'), 'back']),
      SLOW,
    );
  });

  test('is nobody else’s, and is not there for a worker that the endpoint never had', async () => {
    const id = await place();
    const path = `GET /v2/serverless/${endpointId}/workers`;
    const another = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id as string;
    const limited = await bench.newKey(['serverless:read'], { maker: bench.operatorKey, endpointIds: [another] });
    expect((await bench.call(`${path}/${id}/logs`, { key: limited })).status).toBe(403);
    expect((await bench.call(`GET /v2/serverless/${another}/workers/${id}/logs`)).status).toBe(404);
    expect(await bench.call(`${path}/${id}/logs`, { key: await bench.newKey(['serverless:read']) })).toMatchObject({
      status: 404,
      body: { type: expect.stringContaining('endpoint-not-found') },
    });
    expect(await bench.call(`${path}/nobody/logs`)).toMatchObject({
      status: 404,
      body: { type: expect.stringContaining('worker-not-found') },
    });
    expect((await bench.call(`${path}/${id}/logs`, { key: await bench.keyWithout('serverless:read') })).status).toBe(
      403,
    );
  });

  test.each(['tail=5001', 'tail=-1', 'since=yesterday', 'source=stderr'])('400 for %s', async (query) => {
    const id = await place();
    expect((await bench.call(`GET /v2/serverless/${endpointId}/workers/${id}/logs?${query}`)).status).toBe(400);
  });

  test('400 for an event id of another path', async () => {
    const id = await place();
    const headers = { 'last-event-id': '2026-06-01T12:00:02Z/000000000002/w1:2' };
    expect((await bench.call(`GET /v2/serverless/${endpointId}/workers/${id}/logs`, { headers })).status).toBe(400);
  });

  test('ends within seconds without its last event when the key of its reader is revoked', async () => {
    const id = await place();
    agent.print(id, 'one');
    const { body } = await bench.call('POST /v2/api-keys', { body: { name: 'reader', scopes: ['serverless:read'] } });
    const [revoked, other] = [read(`/workers/${id}/logs`, { key: body.key }), read(`/workers/${id}/logs`)];
    await eventually(() => expect([revoked.lines, other.lines]).toEqual([['one'], ['one']]), SLOW);
    expect((await bench.call(`DELETE /v2/api-keys/${body.id}`)).status).toBe(204);
    await eventually(() => expect(revoked.isOver).toBe(true), SLOW);
    agent.print(id, 'two');
    await eventually(() => expect(other.lines).toEqual(['one', 'two']), SLOW);
    expect(revoked.told.map(({ event }) => event)).not.toContain('end');
  });

  test('is read by so many of one account at a time, which keeps no other account from reading its own', async () => {
    const key = await bench.newAccount();
    const others = (await bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT })).body.id as string;
    const [id, theirs] = [await place(), await place(others)];
    agent.print(id, 'here');
    agent.print(theirs, 'there');
    for (let open = 0; open < 32; open += 1) read(`/workers/${id}/logs`);
    await eventually(() => expect(readers.every(({ lines }) => lines.length === 1)).toBe(true), SLOW);
    const refused = await bench.call(`GET /v2/serverless/${endpointId}/workers/${id}/logs`);
    expect(refused).toMatchObject({
      status: 429,
      body: {
        type: expect.stringContaining('limit-reached'),
        detail: expect.stringContaining('reads 32 logs already'),
      },
    });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const other = new Reader(`/v2/serverless/${others}/workers/${theirs}/logs`, { key });
    await eventually(() => expect(other.lines).toEqual(['there']), SLOW);
    other.leave();
    for (const reader of readers) reader.leave();
    await eventually(async () => {
      expect((await bench.call(`GET /v2/serverless/${endpointId}/workers/${id}/logs`)).status).toBe(200);
    }, SLOW);
  });
});

describe('the logs of an endpoint', () => {
  test('are those of all its workers, those that come later included, each line with its worker', async () => {
    const [first, second] = [await place(), await place()];
    agent.print(first, 'a1', 'a2');
    agent.print(second, 'b1');
    const reader = read('/logs?tail=1');
    await eventually(() => expect([...reader.lines].sort()).toEqual(['a2', 'b1']), SLOW);
    const third = await place();
    agent.print(third, 'c1', 'c2');
    await eventually(() => expect(reader.lines.slice(2)).toEqual(['c1', 'c2']), SLOW);
    expect(reader.told.at(-1)?.data).toMatchObject({ workerId: third, line: 'c2' });
  });

  test('go on behind Last-Event-ID without a line lost or told twice, of any worker', async () => {
    const [first, second] = [await place(), await place()];
    agent.print(first, 'a1');
    agent.print(second, 'b1');
    const reader = read('/logs');
    await eventually(() => expect(reader.lines).toHaveLength(2), SLOW);
    reader.leave();
    agent.print(first, 'a2');
    agent.print(second, 'b2', 'b3');
    agent.ended.add(second);
    await depart(second);
    const lastEventId = reader.told.at(-1)?.id ?? '';
    const next = read('/logs', { lastEventId });
    await eventually(() => expect([...next.lines].sort()).toEqual(['a2', 'b2', 'b3']), SLOW);
  });

  test('can be those of one job', async () => {
    const id = await place();
    agent.print(id, 'x');
    read('/logs?jobId=job-1');
    await eventually(() => expect(agent.asked[0]).toMatchObject({ jobId: 'job-1' }), SLOW);
  });
});
