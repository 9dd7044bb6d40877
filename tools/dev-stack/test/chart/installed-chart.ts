import { chown, cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { runCommand, type Cluster } from '@berth/servers';
import type { BalancedPlace } from '../stack/balanced-endpoint.js';
import { CHART, DEPLOY, helm, objectsOf, type ClusterObject } from './helm-chart.js';

const BERTH = resolve(import.meta.dirname, '../../../../apps/berth/dist/main.js');
const VALUES = join(import.meta.dirname, 'whole.values.yaml');
const CALL_MS = 120_000;
/** A broker leaves in half a minute, and they leave one after the other. */
const ROLLOUT = '10m';
const NAMESPACE = 'berth';
const BROKERS = [1, 2, 3] as const;
/** Who runs in our images. */
const OWNER = 10_001;

export interface InstalledChartOptions {
  readonly cluster: Cluster;
  /** Folder of Helm and kubectl. */
  readonly programs: string;
  /** For all that it writes; nodes see it. */
  readonly home: string;
}

/** The chart with all that it asks for, as docs/kubernetes.md says, and reached at the addresses of its Services. */
export class InstalledChart implements BalancedPlace {
  readonly home: string;
  readonly #cluster: Cluster;
  readonly #programs: string;
  readonly #addresses = { api: '', router: '' };
  #firstKey = '';

  constructor({ cluster, home, programs }: InstalledChartOptions) {
    this.home = home;
    this.#cluster = cluster;
    this.#programs = programs;
  }

  get dev(): BalancedPlace['dev'] {
    const runUrl = `http://${this.#addresses.router}:8001`;
    const baseUrl = `http://${this.#addresses.api}:8000`;
    return { apiKey: this.#firstKey, baseUrl, runUrl, loadBalancerDomain: 'lb.berth.test', routers: [{ runUrl }] };
  }

  /** Of what `berth init` wrote. */
  authority(): Promise<string> {
    return readFile(join(this.#installation, 'tls/ca.crt'), 'utf8');
  }

  /** Namespaces, disks and Secrets: what the chart does not make. */
  async prepare(): Promise<void> {
    await this.kubectl('apply', '--filename', join(DEPLOY, 'namespaces.yaml'));
    await this.#makeVolumes();
    const said = await runCommand(
      process.execPath,
      [BERTH, 'init', this.#installation, ...PLAN, '--seen-at', '/etc/berth', '--listen', '0.0.0.0', '--json'],
      { timeoutMs: CALL_MS },
    );
    this.#firstKey = (JSON.parse(said) as { readonly firstKey: string }).firstKey;
    await this.makeSecrets();
    const key = `--from-literal=apiKey=${this.#firstKey}`;
    await this.kubectl('create', 'secret', 'generic', 'berth-test', '--namespace', NAMESPACE, key);
  }

  /** Makes them of what `berth init` wrote, or brings them up to date, and resolves with what was said. */
  makeSecrets(): Promise<string> {
    const { kubeconfig: KUBECONFIG } = this.#cluster;
    // Its cache is written where it is at home.
    const env = { KUBECTL: join(this.#programs, 'kubectl'), KUBECONFIG, PATH: '/usr/bin:/bin', HOME: this.home };
    return runCommand(join(DEPLOY, 'secrets.sh'), [this.#installation], { timeoutMs: CALL_MS, env });
  }

  /** What the chart makes of the values that it is installed with. */
  async rendered(): Promise<readonly ClusterObject[]> {
    const words = ['--namespace', NAMESPACE, '--values', VALUES];
    return objectsOf(await helm(this.#programs, 'template', 'berth', CHART, ...words));
  }

  /** Installs, waits for all, agents that have joined too, and resolves with what Helm printed. */
  async install(): Promise<string> {
    const home = `workerAgent.home=${join(this.home, 'agent')}`;
    const words = ['--values', VALUES, '--set', home, '--wait', '--timeout', ROLLOUT];
    const said = await this.#helm('install', 'berth', CHART, ...words);
    this.#addresses.api = await this.#addressOf('berth-management-api');
    this.#addresses.router = await this.#addressOf('berth-job-router');
    return said;
  }

  /** A token for a host elsewhere. */
  async inviteHost(name: string): Promise<{ readonly token: string }> {
    const env = { BERTH_BASE_URL: this.dev.baseUrl, BERTH_API_KEY: this.dev.apiKey, PATH: '/usr/bin:/bin' };
    const words = [BERTH, 'host', 'join', name, '--json'];
    return JSON.parse(await runCommand(process.execPath, words, { timeoutMs: CALL_MS, env })) as { token: string };
  }

  /** The chart of another version with the same values; resolves when everything is replaced and ready. */
  async upgrade(version: string): Promise<void> {
    const chart = join(this.home, 'chart');
    await cp(CHART, chart, { recursive: true });
    const description = await readFile(join(chart, 'Chart.yaml'), 'utf8');
    const next = description.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`);
    await writeFile(join(chart, 'Chart.yaml'), next);
    await this.#helm('upgrade', 'berth', chart, '--reuse-values', '--wait', '--timeout', ROLLOUT);
  }

  /** What Helm's test printed; throws where it failed. */
  test(): Promise<string> {
    return this.#helm('test', 'berth', '--timeout', '5m');
  }

  async uninstall(): Promise<void> {
    await this.#helm('uninstall', 'berth', '--wait', '--timeout', '5m');
  }

  kubectl(...words: readonly string[]): Promise<string> {
    return this.#cluster.kubectl(...words);
  }

  get #installation(): string {
    return join(this.home, 'installation');
  }

  #helm(command: string, ...words: readonly string[]): Promise<string> {
    const where = ['--kubeconfig', this.#cluster.kubeconfig, '--namespace', NAMESPACE];
    return helm(this.#programs, command, ...where, ...words);
  }

  async #addressOf(service: string): Promise<string> {
    const path = '--output=jsonpath={.spec.clusterIP}';
    return this.kubectl('get', 'service', service, '--namespace', NAMESPACE, path);
  }

  /** Folders of the machine for each claim, which whoever runs in our images may write. */
  async #makeVolumes(): Promise<void> {
    const claims = [...BROKERS.map((number) => `streams-berth-broker-${number}`), 'database-berth-postgres-0'];
    const volumes = claims.map((name) => ({
      ...{ apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name } },
      spec: {
        ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '4Gi' }, storageClassName: 'tests' },
        ...{ hostPath: { path: join(this.home, name) }, claimRef: { namespace: NAMESPACE, name } },
      },
    }));
    for (const { spec } of volumes) {
      await mkdir(spec.hostPath.path);
      await chown(spec.hostPath.path, OWNER, OWNER);
    }
    const file = join(this.home, 'volumes.json');
    await writeFile(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: volumes }));
    await this.kubectl('apply', '--filename', file);
  }
}

const PLAN = [
  ...['--brokers', String(BROKERS.length), '--database-host', 'berth-postgres', '--storage-gib', '2'],
  ...BROKERS.flatMap((number) => ['--broker-host', `berth-broker-${number}.berth-broker.berth.svc`]),
];
