import { createHash } from 'node:crypto';
import type { AttemptRef, TakenJob } from '@berth/contracts';
import type { RawJson } from '@berth/domain';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { RouterLink } from './router-link.port.js';

const PART_TIMEOUT_MS = 3_000;
/** Some seconds of a broker that restarts: meanwhile each try fails at once. */
const PART_TRIES_MAX = 6;
const PARTS_AT_ONCE = 4;

export type Download =
  | { readonly kind: 'whole'; readonly json: RawJson }
  /** The parts have expired with their job. */
  | { readonly kind: 'gone' };

type DownloadedJob = AttemptRef & Pick<TakenJob, 'input' | 'traceparent'>;

/** The JSON text of a job's input. @throws Error when a part cannot be had or the whole does not match its hash */
export async function downloadInput(
  tools: { readonly link: RouterLink; readonly clock: Clock; readonly random: Random },
  job: DownloadedJob,
): Promise<Download> {
  const { input } = job;
  if (input.kind === 'inline') return { kind: 'whole', json: input.json };
  const { parts, sha256, sizeBytes } = input.manifest;
  const buffers = new Array<Buffer>(parts);
  for (let first = 0; first < parts; first += PARTS_AT_ONCE) {
    const indexes = Array.from({ length: Math.min(PARTS_AT_ONCE, parts - first) }, (_, order) => first + order);
    const found = await Promise.all(indexes.map((part) => downloadPart(tools, job, part)));
    for (const [order, buffer] of found.entries()) {
      if (buffer === null) return { kind: 'gone' };
      buffers[first + order] = buffer;
    }
  }
  const bytes = Buffer.concat(buffers);
  const isIntact = bytes.byteLength === sizeBytes && createHash('sha256').update(bytes).digest('hex') === sha256;
  if (!isIntact) throw new Error(`input of job ${job.jobId} does not match its hash`);
  return { kind: 'whole', json: bytes.toString('utf8') as RawJson };
}

async function downloadPart(
  { link, clock, random }: { readonly link: RouterLink; readonly clock: Clock; readonly random: Random },
  { attempt, endpointId, jobId, token, traceparent }: DownloadedJob,
  part: number,
): Promise<Buffer | null> {
  const request = { endpointId, jobId, attempt, token, part };
  const options = { attemptsMax: PART_TRIES_MAX, baseDelayMs: 100, maxDelayMs: 2_000, isRetriable: () => true };
  const reply = await retry(() => link.ask('download', request, { timeoutMs: PART_TIMEOUT_MS, traceparent }), {
    clock,
    random,
    ...options,
  });
  return reply.base64 === null ? null : Buffer.from(reply.base64, 'base64');
}
