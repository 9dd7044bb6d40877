import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { KubeConfig } from '@kubernetes/client-node';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ClusterApi } from '@berth/cluster-api';
import type { PodObject } from '../api/kube-objects.js';
import { kubernetesMetrics, type KubernetesMetrics } from '../metrics.js';
import { KnownPods } from './known-pods.js';
import { ROLE_LABEL } from './pod-labels.js';
import { PodWatch } from './pod-watch.js';

const PATH = '/api/v1/namespaces/berth-workers/pods';
const TOO_OLD = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' };

const podNamed = (name: string): PodObject => ({
  metadata: { name, uid: `uid of ${name}`, labels: { [ROLE_LABEL]: 'worker' } },
});

/** Answers lists and watches as the API does, over HTTP; what it has, and when it hangs up, is the test's to say. */
class PodsApi {
  pods: readonly PodObject[] = [];
  version = 1;
  /** Answered to the next that watch, in their order. */
  readonly refusals: object[] = [];
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #watches = new Map<ServerResponse, string>();
  #port = 0;

  /** Versions from which somebody watches now. */
  get watchedFrom(): readonly string[] {
    return [...this.#watches.values()];
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  /** At the same port as before. */
  async open(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Cuts who is there, and refuses who comes. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  /** To all who watch. */
  tell(type: string, object: object): void {
    for (const watch of this.#watches.keys()) watch.write(`${JSON.stringify({ type, object })}\n`);
  }

  #answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
    const { searchParams } = new URL(url, this.url);
    if (!searchParams.has('watch')) {
      response.end(JSON.stringify({ metadata: { resourceVersion: String(this.version) }, items: this.pods }));
      return;
    }
    const refusal = this.refusals.shift();
    if (refusal !== undefined) {
      response.writeHead(410, { 'content-type': 'application/json' }).end(JSON.stringify(refusal));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    this.#watches.set(response, searchParams.get('resourceVersion') ?? '');
    response.once('close', () => this.#watches.delete(response));
  }
}

let api: PodsApi;
let pods: KnownPods;
let registry: MetricRegistry;
let metrics: KubernetesMetrics;
let end: () => Promise<void>;

beforeEach(async () => {
  api = new PodsApi();
  await api.open();
  api.pods = [podNamed('a'), podNamed('b')];
  pods = new KnownPods();
  registry = new MetricRegistry();
  metrics = kubernetesMetrics(registry);
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'double', server: api.url, skipTLSVerify: true }, { name: 'agent' });
  const watch = new PodWatch({
    ...{ path: PATH, labelSelector: 'berth.host=host1', pods, metrics, logger: silentLogger },
    ...{ api: new ClusterApi({ config, clock: systemClock }), clock: systemClock, random: systemRandom },
  });
  const stopping = new AbortController();
  const running = watch.run(await watch.list(), stopping.signal);
  end = async () => {
    stopping.abort();
    await running;
  };
  await eventually(() => expect(api.watchedFrom).toEqual(['1']));
});
afterEach(async () => {
  await end();
  await api.close();
});

const known = (): Record<string, boolean> =>
  Object.fromEntries(pods.all.map(({ isGone, pod }) => [pod.metadata.name, !isGone]));
const says = async (line: string): Promise<boolean> => (await registry.text()).split('\n').includes(line);
const isWatching = (): Promise<boolean> => says('berth_agent_kubernetes_watching 1');

test('takes in what is told, in its order', async () => {
  api.tell('ADDED', podNamed('c'));
  api.tell('DELETED', podNamed('a'));
  await eventually(() => expect(known()).toEqual({ a: false, b: true, c: true }));
});

const WAYS_OF_FORGETTING: readonly (readonly [string, () => void | Promise<void>])[] = [
  ['in the middle of a watch', () => api.tell('ERROR', TOO_OLD)],
  [
    'when a watch begins',
    async () => {
      api.refusals.push(TOO_OLD);
      await api.close();
      await api.open();
    },
  ],
];
test.each(WAYS_OF_FORGETTING)(
  'lists anew, and watches from there, where the API has forgotten where it stood: %s',
  async (_, forget) => {
    api.version = 7;
    api.pods = [podNamed('b'), podNamed('c')];
    await forget();
    await eventually(() => expect(known()).toEqual({ a: false, b: true, c: true }));
    await eventually(() => expect(api.watchedFrom).toEqual(['7']));
    await eventually(async () =>
      expect(await says('berth_agent_kubernetes_watch_breaks_total{reason="too-old"} 1')).toBe(true),
    );
    api.tell('DELETED', podNamed('c'));
    await eventually(() => expect(known()).toEqual({ a: false, b: true, c: false }));
  },
);

test('keeps what it knows while the API is away, says so, and catches up', async () => {
  expect(await isWatching()).toBe(true);
  await api.close();
  api.version = 9;
  api.pods = [podNamed('b')];
  await eventually(async () => expect(await isWatching()).toBe(false));
  expect(known()).toEqual({ a: true, b: true });
  await api.open();
  await eventually(() => expect(known()).toEqual({ a: false, b: true }));
  await eventually(async () => expect(await isWatching()).toBe(true));
  await eventually(() => expect(api.watchedFrom).toEqual(['9']));
  api.tell('ADDED', podNamed('c'));
  await eventually(() => expect(known()).toEqual({ a: false, b: true, c: true }));
});
