import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findDebianProgram } from '../debian/find-debian-program.js';
import { pollUntil } from '../poll-until.js';
import { allocatePorts } from '../ports/allocate-ports.js';
import { spawnServer } from '../processes/server-process.js';
import { makeTempFolder } from '../temp-folder.js';

/** Something that is asked for its metrics. */
export interface ScrapeJob {
  /** The label `job` of its series. */
  readonly name: string;
  /** `127.0.0.1:9102` */
  readonly targets: readonly string[];
}

export interface StartPrometheusOptions {
  readonly jobs: readonly ScrapeJob[];
  /** Between two looks, and between two evaluations of the rules. */
  readonly everySeconds: number;
  readonly ruleFiles: readonly string[];
}

export interface Prometheus {
  /** `http://127.0.0.1:9090` */
  readonly url: string;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const ASK_MS = 5_000;

/** @throws CommandError why there is no Prometheus */
export const findPrometheus = (): Promise<string> =>
  findDebianProgram({ packageName: 'prometheus', path: 'usr/bin/prometheus', versionFlag: '--version' });

/** The tool that checks and tries rules. @throws CommandError why it is not there */
export const findPromtool = (): Promise<string> =>
  findDebianProgram({ packageName: 'prometheus', path: 'usr/bin/promtool', versionFlag: '--version' });

/** A Prometheus with a folder of its own, once it answers. */
export async function startPrometheus(options: StartPrometheusOptions): Promise<Prometheus> {
  const executable = await findPrometheus();
  const folder = await makeTempFolder('berth-prometheus');
  const reserved = await allocatePorts(1);
  const [port = 0] = reserved.ports;
  await reserved.release();
  const conf = join(folder.path, 'prometheus.json');
  await writeFile(conf, confOf(options));
  const server = await spawnServer({
    name: 'prometheus',
    executable,
    args: [
      `--config.file=${conf}`,
      `--storage.tsdb.path=${join(folder.path, 'data')}`,
      '--enable-feature=exemplar-storage',
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    folder: folder.path,
    logFile: join(folder.path, 'prometheus.log'),
    pidFile: join(folder.path, 'spawned.pid'),
    stopSignal: 'SIGTERM',
  });
  const url = `http://127.0.0.1:${port}`;
  const stop = async (): Promise<void> => {
    await server.stop();
    await folder.remove();
  };
  try {
    await pollUntil(() => isReady(url), { what: 'a ready Prometheus', deadlineMs: READY_MS });
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

async function isReady(url: string): Promise<true | undefined> {
  try {
    const { ok } = await fetch(`${url}/-/ready`, { signal: AbortSignal.timeout(ASK_MS) });
    return ok ? true : undefined;
  } catch {
    // Not listening yet: that is what is being waited for.
    return undefined;
  }
}

/** JSON is YAML. */
const confOf = ({ everySeconds, jobs, ruleFiles }: StartPrometheusOptions): string =>
  JSON.stringify({
    global: { scrape_interval: `${everySeconds}s`, evaluation_interval: `${everySeconds}s` },
    rule_files: ruleFiles,
    scrape_configs: jobs.map(({ name, targets }) => ({ job_name: name, static_configs: [{ targets }] })),
  });
