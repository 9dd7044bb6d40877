import { KubeConfig } from '@kubernetes/client-node';
import { ClusterError, type ClusterApi } from '@berth/cluster-api';
import type { EventObject, NodeObject, PodObject, PodReport } from '../src/runtimes/kubernetes/api/kube-objects.js';

type Api = Pick<ClusterApi, 'ask' | 'config' | 'read' | 'stream'>;
type Question = NonNullable<Parameters<ClusterApi['ask']>[1]>;

interface Watch {
  readonly selector: string;
  readonly hasBookmarks: boolean;
  readonly lines: string[];
  wake: () => void;
}

/** What of a kind is asked for, such as `/api/v1/namespaces/berth-workers/pods/berth-w1`. */
const PATH = /^\/api\/v1(?:\/namespaces\/([^/]+))?\/(pods|secrets|nodes|events)(?:\/([^/]+))?$/;

export const NODE: NodeObject = {
  metadata: { name: 'node1', uid: 'uid of node1' },
  status: { allocatable: { cpu: '8', memory: '32Gi', 'ephemeral-storage': '100G' } },
};

/** The API of a cluster with one node, and the kubelet of that. Nothing happens by itself but what `kubelet` says. */
export class FakeCluster implements Api {
  readonly config = new KubeConfig();
  /** What was asked, in its order: `POST secrets/NAME`. */
  readonly asked: string[] = [];
  /** Questions get no answer, for ever. */
  isSilent = false;
  /** They cannot be asked. */
  isAway = false;
  /** Of what may be asked, as it stands in `asked`: this agent may not. */
  refused: readonly string[] = [];
  /** What the log of each Pod answers, whoever asks; those that follow it read to its end. */
  log = '';
  /** What becomes of a watch that is asked for: it stands, cannot be had, or is over at once. */
  watches: 'stand' | 'fail' | 'end' = 'stand';
  /** What becomes of a Pod that is made; undefined: nothing yet. */
  kubelet: (pod: PodObject) => PodReport | undefined = () => RUNNING;
  /** Null: it was deleted. */
  node: NodeObject | null = NODE;
  /** What its kubelet complains of, by the uid of a Pod; undefined: this agent may not ask. */
  warnings: ((uid: string) => readonly EventObject[]) | undefined = () => [];
  readonly #objects = new Map<string, PodObject>();
  readonly #watches = new Set<Watch>();
  #version = 1;

  /** As it is, whoever has made it. */
  put(pod: PodObject, kind = 'pods'): PodObject {
    this.#version += 1;
    const { name, namespace = 'berth-workers' } = pod.metadata;
    const metadata = { ...pod.metadata, namespace, resourceVersion: String(this.#version) };
    const key = keyOf(namespace, kind, name);
    const type = this.#objects.has(key) ? 'MODIFIED' : 'ADDED';
    const kept = { ...pod, metadata };
    this.#objects.set(key, kept);
    if (kind === 'pods') this.#tell(type, kept);
    return kept;
  }

  /** @param isTold whether those that watch hear of it */
  remove(name: string, { isTold = true, kind = 'pods' } = {}): void {
    const key = keyOf('berth-workers', kind, name);
    const found = this.#objects.get(key);
    this.#objects.delete(key);
    this.#version += 1;
    if (found !== undefined && isTold && kind === 'pods') this.#tell('DELETED', found);
  }

  /** As the API does each minute, to those that have asked for it. */
  bookmark(): void {
    const object = { kind: 'Pod', metadata: { resourceVersion: String(this.#version) } };
    for (const watch of this.#watches) if (watch.hasBookmarks) say(watch, 'BOOKMARK', object);
  }

  all(kind: 'pods' | 'secrets'): readonly PodObject[] {
    return [...this.#objects].filter(([key]) => key.split('/')[1] === kind).map(([, object]) => object);
  }

  find(name: string, kind: 'pods' | 'secrets' = 'pods'): PodObject | undefined {
    return this.#objects.get(keyOf('berth-workers', kind, name));
  }

  async ask<T>(path: string, { body, method = 'GET', query = {}, signal }: Question = {}): Promise<T> {
    const [, namespace, kind = '', name] = PATH.exec(path) ?? [];
    const question = `${method} ${kind}${name === undefined ? '' : `/${name}`}`;
    this.asked.push(question);
    if (this.refused.includes(question)) throw new ClusterError(403, `${kind} is forbidden`);
    if (this.isAway) throw new Error('connect ECONNREFUSED');
    if (this.isSilent) return new Promise(() => undefined);
    const answer = this.#answer({ namespace, kind, name, method, body, query }) as T;
    // Who gives up hears no answer; what was asked for may have happened all the same.
    signal?.throwIfAborted();
    return answer;
  }

  async read(path: string, { query = {} }: Question = {}): Promise<string> {
    return this.#logFor(path, query);
  }

  async *stream(path: string, query: NonNullable<Question['query']>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    if (path.endsWith('/log')) {
      yield new TextEncoder().encode(this.#logFor(path, query));
      return;
    }
    if (this.watches === 'fail') throw new ClusterError(403, 'pods is forbidden: cannot watch');
    if (this.watches === 'end') return;
    const watch: Watch = {
      ...{ selector: String(query['labelSelector']), hasBookmarks: query['allowWatchBookmarks'] === true },
      ...{ lines: [], wake: () => undefined },
    };
    this.#watches.add(watch);
    signal.addEventListener('abort', () => {
      watch.wake();
    });
    while (!signal.aborted) {
      for (const line of watch.lines.splice(0)) yield new TextEncoder().encode(line);
      await new Promise<void>((resolve) => {
        watch.wake = resolve;
        if (signal.aborted || watch.lines.length > 0) resolve();
      });
    }
    this.#watches.delete(watch);
    signal.throwIfAborted();
  }

  #answer({ body, kind, method, name, namespace, query }: Asked): unknown {
    if (kind === 'nodes') return this.#nodeOf(name ?? '');
    if (kind === 'events') return this.#eventsOf(String(query['fieldSelector']));
    if (method === 'POST') return this.#create(body as PodObject, kind);
    if (name === undefined) return this.#list(kind, namespace, String(query['labelSelector'] ?? ''));
    const found = this.find(name, kind as 'pods');
    if (found === undefined) throw new ClusterError(404, `${kind} "${name}" not found`);
    if (method === 'DELETE') this.remove(name, { kind });
    return found;
  }

  /** A kubelet puts the time before what a program printed, where it is asked for, and never before words of its own. */
  #logFor(path: string, query: NonNullable<Question['query']>): string {
    this.asked.push(`GET ${path.split('/').slice(-3).join('/')}`);
    return query['timestamps'] === true ? this.log : this.log.replaceAll(/^\d{4}-\S+Z /gm, '');
  }

  #nodeOf(name: string): NodeObject {
    if (this.node === null) throw new ClusterError(404, `nodes "${name}" not found`);
    return this.node;
  }

  #eventsOf(selector: string): object {
    const uid = /^involvedObject\.uid=(.+),type=Warning$/.exec(selector)?.[1];
    if (uid === undefined) throw new ClusterError(400, `field selector not understood: ${selector}`);
    if (this.warnings === undefined) throw new ClusterError(403, 'events is forbidden');
    return { items: this.warnings(uid) };
  }

  #create(object: PodObject, kind: string): PodObject {
    const { name } = object.metadata;
    const uid = `uid ${String(this.#version)} of ${name}`;
    const made = this.put({ ...object, metadata: { ...object.metadata, uid } }, kind);
    const status = kind === 'pods' ? this.kubelet(made) : undefined;
    if (status !== undefined) this.put({ ...made, status }, kind);
    return made;
  }

  #list(kind: string, namespace: string | undefined, selector: string): object {
    const items = this.all(kind as 'pods').filter(
      ({ metadata }) => (namespace === undefined || metadata.namespace === namespace) && matches(metadata, selector),
    );
    return { metadata: { resourceVersion: String(this.#version) }, items };
  }

  #tell(type: string, object: PodObject): void {
    for (const watch of this.#watches) {
      if (matches(object.metadata, watch.selector)) say(watch, type, object);
    }
  }
}

export const RUNNING: PodReport = {
  phase: 'Running',
  containerStatuses: [{ state: { running: { startedAt: '2026-06-01T12:00:00Z' } } }],
};

interface Asked {
  readonly namespace: string | undefined;
  readonly kind: string;
  readonly name: string | undefined;
  readonly method: string;
  readonly body: unknown;
  readonly query: NonNullable<Question['query']>;
}

function say(watch: Watch, type: string, object: object): void {
  watch.lines.push(`${JSON.stringify({ type, object })}\n`);
  watch.wake();
}

const keyOf = (namespace: string, kind: string, name: string): string => `${namespace}/${kind}/${name}`;

const matches = ({ labels = {} }: PodObject['metadata'], selector: string): boolean =>
  selector.split(',').every((term) => {
    const [, name = '', not, value] = /^([^!=]+)(!?)=(.*)$/.exec(term) ?? [];
    return term === '' || (labels[name] === value) === (not === '');
  });
