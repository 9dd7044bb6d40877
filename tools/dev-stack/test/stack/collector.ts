import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { allocatePorts, makeTempFolder, runCommand, spawnServer, type CommandOptions } from '@berth/servers';

/** A step as the collector has it. */
export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string>>;
}

const SOURCE = resolve(import.meta.dirname, '../collector');
const CACHE = resolve(import.meta.dirname, '../../../../.cache/otel-collector');
/** All of it is compiled once, in some minutes. */
const BUILD_MS = 1_500_000;
const VERSION_MS = 10_000;
/** On PATH, or where its installer puts it. */
const GO = ['go', '/usr/local/go/bin/go'];

/** An OpenTelemetry collector, which writes what comes to a file. */
export class Collector {
  readonly endpoint: string;
  readonly #file: string;
  readonly #stop: () => Promise<void>;

  private constructor(parts: { readonly endpoint: string; readonly file: string; readonly stop: () => Promise<void> }) {
    this.endpoint = parts.endpoint;
    this.#file = parts.file;
    this.#stop = parts.stop;
  }

  static async start(): Promise<Collector> {
    const executable = await buildCollector();
    const folder = await makeTempFolder('berth-collector-');
    const reserved = await allocatePorts(1);
    const [port = 0] = reserved.ports;
    await reserved.release();
    const [file, conf] = [join(folder.path, 'spans.jsonl'), join(folder.path, 'collector.yaml')];
    await writeFile(conf, confOf(port, file));
    const server = await spawnServer({
      name: 'collector',
      executable,
      args: ['--config', conf],
      folder: folder.path,
      logFile: join(folder.path, 'collector.log'),
      pidFile: join(folder.path, 'spawned.pid'),
      stopSignal: 'SIGTERM',
    });
    const stop = async (): Promise<void> => {
      await server.stop();
      await folder.remove();
    };
    return new Collector({ endpoint: `http://127.0.0.1:${port}`, file, stop });
  }

  stop(): Promise<void> {
    return this.#stop();
  }

  /** All that has come of one trace. */
  async spansOf(traceId: string): Promise<readonly CollectedSpan[]> {
    if (!existsSync(this.#file)) return [];
    const lines = (await readFile(this.#file, 'utf8')).split('\n');
    // The last line may not be whole yet.
    return lines
      .slice(0, -1)
      .flatMap(spansIn)
      .filter((span) => span.traceId === traceId);
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

interface Line {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

type OtlpSpan = Pick<CollectedSpan, 'name' | 'traceId' | 'spanId'> & {
  readonly parentSpanId?: string;
  readonly attributes?: readonly KeyValue[];
};

const textsOf = (attributes: readonly KeyValue[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]));

const spansIn = (line: string): readonly CollectedSpan[] =>
  (JSON.parse(line) as Line).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ attributes = [], name, parentSpanId = '', spanId, traceId }) => ({
        ...{ name, parentSpanId, spanId, traceId, attributes: textsOf(attributes) },
        service: textsOf(resource.attributes)['service.name'] ?? '',
      })),
  );

const confOf = (port: number, file: string): string =>
  JSON.stringify({
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
    exporters: { file: { path: file, flush_interval: '100ms' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: { traces: { receivers: ['otlp'], exporters: ['file'] } },
    },
  });

/** Kept beside the build, by its sources. @throws CommandError where there is no Go, or it does not build */
async function buildCollector(): Promise<string> {
  const sources = await Promise.all(['main.go', 'go.mod', 'go.sum'].map((name) => readFile(join(SOURCE, name))));
  const version = createHash('sha256').update(Buffer.concat(sources)).digest('hex').slice(0, 12);
  const built = join(CACHE, version, 'otelcol');
  if (existsSync(built)) return built;
  const draft = `${CACHE}.new`;
  await rm(draft, { recursive: true, force: true });
  await cp(SOURCE, draft, { recursive: true });
  const go = await findGo();
  await runCommand(go, ['build', '-ldflags', '-s -w', '-o', 'otelcol', '.'], {
    cwd: draft,
    timeoutMs: BUILD_MS,
  } satisfies CommandOptions);
  await mkdir(CACHE, { recursive: true });
  await rename(draft, join(CACHE, version));
  return built;
}

async function findGo(): Promise<string> {
  const failures: unknown[] = [];
  for (const go of GO) {
    try {
      await runCommand(go, ['version'], { timeoutMs: VERSION_MS });
      return go;
    } catch (error) {
      failures.push(error);
    }
  }
  throw new AggregateError(failures, 'the collector of this test is built with Go, which is not there');
}
