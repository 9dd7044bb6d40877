import type { Clock } from '@berth/lifecycle';
import type { OperationsFacts, PublicFacts } from '../judges/judge-processes.js';
import { addressOf, probeCertificate } from './probe-sockets.js';

const ANSWER_MAX_MS = 5_000;
const BODY_BYTES_MAX = 16 * 1_024 * 1_024;
const HTTPS = 443;

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/**
 * One GET, without following anybody anywhere.
 *
 * @throws what `fetch` throws, or an error that says that the answer is too long
 */
export async function get(url: string, apiKey?: string): Promise<HttpAnswer> {
  const answer = await fetch(url, {
    ...(apiKey !== undefined && { headers: { authorization: `Bearer ${apiKey}` } }),
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  return { status: answer.status, headers: answer.headers, text: await textOf(answer) };
}

async function textOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    if (size > BODY_BYTES_MAX) throw new Error(`its answer is longer than ${String(BODY_BYTES_MAX)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Without a key: whoever answers at all, answers as that process does. @throws as `get` */
export async function probePublic(url: string, clock: Clock): Promise<PublicFacts> {
  const askedAtMs = clock.nowMs();
  const { headers, status } = await get(`${url.replace(/\/+$/, '')}/v2/hosts`);
  const answeredAtMs = clock.nowMs();
  const date = Date.parse(headers.get('date') ?? '');
  return {
    status,
    clockOffsetMs: Number.isNaN(date) ? null : date - (askedAtMs + answeredAtMs) / 2,
    certificateUntilMs: url.startsWith('https:') ? await probeCertificate(addressOf(url, HTTPS)) : null,
  };
}

/** `/readyz` and `/metrics` of one process. @throws as `get`, or an error that says that it is no process of ours */
export async function probeOperations(url: string): Promise<OperationsFacts> {
  const base = url.replace(/\/+$/, '');
  const [ready, metrics] = await Promise.all([get(`${base}/readyz`), get(`${base}/metrics`)]);
  return { url: base, readiness: readinessOf(ready.text), build: buildOf(metrics.text) };
}

interface Readiness {
  readonly status: string;
  readonly dependencies: Readonly<Record<string, { readonly state: string; readonly reason?: string }>>;
  readonly degraded?: readonly string[];
}

function readinessOf(text: string): OperationsFacts['readiness'] {
  const report = reportIn(text);
  if (report === null) throw new Error('it answers, and not as a process of Berth does');
  const down = Object.entries(report.dependencies).filter(([, { state }]) => state !== 'up');
  return {
    status: report.status,
    down: down.map(([name, { reason = 'down' }]) => `${name}: ${reason}`),
    degraded: report.degraded ?? [],
  };
}

function reportIn(text: string): Readiness | null {
  try {
    const report = JSON.parse(text) as Partial<Readiness> | null;
    return typeof report?.status === 'string' && typeof report.dependencies === 'object' ? (report as Readiness) : null;
  } catch {
    return null;
  }
}

/** As `libs/telemetry` declares it. */
const BUILD = /^berth_build_info\{([^}]*)\} 1$/m;

function buildOf(metrics: string): OperationsFacts['build'] {
  const labels: Readonly<Record<string, string | undefined>> = Object.fromEntries(
    [...(BUILD.exec(metrics)?.[1] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value]) => [name, value]),
  );
  const { process: name, version } = labels;
  return name === undefined || version === undefined ? null : { process: name, version };
}
