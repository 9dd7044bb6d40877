import { Writable } from 'node:stream';
import { hostOfNode, type HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { HostsStore } from '../../src/hosts/hosts.store.js';
import { Database } from '../../src/persistence/database.js';
import { useManagementApi } from '../management-bench.js';
import { NodeAgents } from './node-agents.js';
import { ReviewingCluster, type TokenFacts } from './reviewing-cluster.js';

const ACCOUNT = 'system:serviceaccount:berth-agents:berth-worker-agent';
/** A host that was heard of so recently is there. */
const LIVE = { deadlineMs: 90_000 };

const cluster = new ReviewingCluster();
const lines: string[] = [];
const log = new Writable({
  write: (chunk: Buffer, _encoding, done) => {
    lines.push(chunk.toString());
    done();
  },
});

const newFolder = useTempFolders();
beforeAll(async () => cluster.open(await newFolder()));
const bench = useManagementApi({
  ...{ hasRoles: true, log },
  environment: {
    BERTH_NODE_SERVICE_ACCOUNT: 'berth-agents/berth-worker-agent',
    BERTH_NODE_DATA_CENTER: 'EU-1',
    BERTH_LOG_LEVEL: 'info',
    get KUBECONFIG() {
      return cluster.kubeconfig;
    },
  },
});
afterAll(() => cluster.close());
afterEach(() => {
  cluster.isSilent = false;
});

const agents = new NodeAgents(bench);
const newNode = (name = 'node-1') => ({ name, uid: systemRandom.uuid() });
const inAnHour = (): number => systemClock.nowMs() + 3_600_000;

const tokenOf = (node: TokenFacts['node'], more: Partial<TokenFacts> = {}): string =>
  cluster.newToken({ account: ACCOUNT, audience: 'berth', expiresAtMs: inAnHour(), node, ...more });

const isRefused = (id: HostId, user: string, pass: string): Promise<void> =>
  expect(agents.connect(id, user, pass)).rejects.toThrow('Authorization Violation');
const hostOf = async (id: HostId): Promise<unknown> => (await bench.call(`GET /v2/hosts/${id}`)).body;
const metric = async (line: string): Promise<boolean> =>
  (await (await fetch(`${bench.operationsUrl}/metrics`)).text()).includes(line);
/** As if its agent had been silent since. */
const silence = (id: HostId): Promise<unknown> =>
  bench.source.query(`UPDATE hosts SET last_seen_at = now() - interval '1 minute' WHERE id = $1`, [id]);

describe('a node whose Pod shows the token of the named account', () => {
  test('becomes a host of its own name, and stays it with its own secret', async () => {
    const node = newNode('gpu-node-7');
    const id = await agents.join(node, tokenOf(node), 'secret-of-7');
    expect(await hostOf(id)).toMatchObject({ id, name: 'gpu-node-7', dataCenterId: 'EU-1', state: 'ready' });
    expect(await agents.report(id, 'secret-of-7')).toMatchObject({ desired: [], dataCenterId: 'EU-1' });
    expect(await bench.hostSnapshot(id)).toBeDefined();
  });

  test('joins once with it: whoever shows it again, or to be another host, is not let in', async () => {
    const [node, other] = [newNode(), newNode()];
    const token = tokenOf(node);
    const id = await agents.join(node, token, 'first');
    await silence(id);
    await isRefused(id, 'join', token);
    const fresh = tokenOf(other);
    const connection = await agents.connect(hostOfNode(other), 'join', fresh);
    await expect(agents.askToJoin(connection, { id, token: fresh, secret: 'x' })).rejects.toThrow();
    await connection.close();
  });

  test('takes nobody’s place that is there, and its own once nobody is', async () => {
    const node = newNode();
    const id = await agents.join(node, tokenOf(node), 'first');
    await agents.report(id, 'first');
    await isRefused(id, 'join', tokenOf(node));
    await silence(id);
    await agents.join(node, tokenOf(node), 'second');
    await isRefused(id, id, 'first');
    await agents.report(id, 'second');
  });

  test('is another host when it is a new one under an old name', async () => {
    const [old, anew] = [newNode('node-x'), newNode('node-x')];
    const oldId = await agents.join(old, tokenOf(old), 'old');
    const newId = await agents.join(anew, tokenOf(anew), 'new');
    expect(newId).not.toBe(oldId);
    await isRefused(newId, newId, 'old');
    await agents.report(oldId, 'old');
  });
});

test('a node that is silent for a day is forgotten, unless an operator cordoned it, and joins again when it is back', async () => {
  const [gone, kept] = [newNode(), newNode()];
  const ids = [await agents.join(gone, tokenOf(gone), 'gone'), await agents.join(kept, tokenOf(kept), 'kept')] as const;
  await bench.call(`POST /v2/hosts/${ids[1]}/action`, { body: { action: 'cordon' } });
  await bench.source.query(`UPDATE hosts SET last_seen_at = now() - interval '25 hours' WHERE id = ANY($1)`, [ids]);
  const records = new HostsStore(new Database(bench.source));
  await records.forgetNodes(systemClock.nowMs());
  expect((await bench.call(`GET /v2/hosts/${ids[0]}`)).status).toBe(404);
  expect(await hostOf(ids[1])).toMatchObject({ state: 'cordoned' });
  await isRefused(ids[0], ids[0], 'gone');
  await agents.join(gone, tokenOf(gone), 'gone');
  await agents.report(ids[0], 'gone');
});

describe('a node that an operator removed', () => {
  const removed = async () => {
    const node = newNode('removed');
    const id = await agents.join(node, tokenOf(node), 'secret');
    expect((await bench.call(`DELETE /v2/hosts/${id}`)).status).toBe(204);
    return { node, id };
  };

  test('stays away, though its Pod gets new tokens, until it is let in again', async () => {
    const { id, node } = await removed();
    await isRefused(id, id, 'secret');
    await isRefused(id, 'join', tokenOf(node));
    expect((await bench.call(`GET /v2/hosts/${id}`)).status).toBe(404);
    const readmit = () => bench.call(`POST /v2/hosts/${id}/action`, { body: { action: 'readmit' } });
    expect(await readmit()).toMatchObject({ status: 200, body: { id, name: 'removed', isOnline: false } });
    await agents.join(node, tokenOf(node), 'secret');
    await agents.report(id, 'secret');
    expect(await readmit()).toMatchObject({ status: 200, body: { isOnline: true } });
  });

  test('does not come back by the token that it joined with', async () => {
    const node = newNode();
    const token = tokenOf(node);
    const id = await agents.join(node, token, 'secret');
    await bench.call(`DELETE /v2/hosts/${id}`);
    await isRefused(id, 'join', token);
  });

  test('is none that was never there', async () => {
    const id = hostOfNode(newNode());
    const answer = await bench.call(`POST /v2/hosts/${id}/action`, { body: { action: 'readmit' } });
    expect(answer).toMatchObject({ status: 404, body: { title: 'Host not found' } });
  });
});

describe('a token that is not good', () => {
  test.each<[string, Partial<TokenFacts>]>([
    ['of another account', { account: 'system:serviceaccount:berth-agents:default' }],
    ['of another namespace', { account: 'system:serviceaccount:berth-workers:berth-worker-agent' }],
    ['for another audience', { audience: 'https://kubernetes.default.svc' }],
    ['that is out of date', { expiresAtMs: systemClock.nowMs() - 1_000 }],
  ])('%s costs no review', async (_, more) => {
    const node = newNode();
    const before = cluster.reviewed.length;
    await isRefused(hostOfNode(node), 'join', tokenOf(node, more));
    expect(cluster.reviewed).toHaveLength(before);
  });

  test('and says that it is, is found out by the review', async () => {
    const [node, other] = [newNode(), newNode()];
    const forged = tokenOf(node);
    cluster.revoke(forged);
    await isRefused(hostOfNode(node), 'join', forged);
    expect(cluster.reviewed.at(-1)).toBe(forged);
    const [head = '', , signature = ''] = tokenOf(other).split('.');
    const [, claims = ''] = tokenOf(node).split('.');
    await isRefused(hostOfNode(node), 'join', `${head}.${claims}.${signature}`);
    expect((await bench.call(`GET /v2/hosts/${hostOfNode(node)}`)).status).toBe(404);
    await eventually(async () => {
      expect(await metric('berth_management_token_reviews_total{outcome="refused"}')).toBe(true);
    });
  });

  test('does not say more under the name of those that ask why', async () => {
    const node = newNode();
    await isRefused(hostOfNode(node), 'join-refused', tokenOf(node));
  });
});

test('while the cluster does not answer no node joins, and who has joined is let in at once', async () => {
  const [node, other] = [newNode(), newNode()];
  const id = await agents.join(node, tokenOf(node), 'secret');
  cluster.isSilent = true;
  const joining = Array.from({ length: 12 }, () => isRefused(hostOfNode(other), 'join', tokenOf(other)));
  await agents.report(id, 'secret');
  await Promise.all(joining);
  expect(await metric('berth_management_agents_not_admitted_total{fault="cluster-away"}')).toBe(true);
  cluster.isSilent = false;
  await eventually(() => agents.join(other, tokenOf(other), 'other'), LIVE);
});

test('no token is in the log', () => {
  const shown = cluster.reviewed.filter((token) => lines.some((line) => line.includes(token)));
  expect([lines.some((line) => line.includes('a node may join')), shown]).toEqual([true, []]);
});
