import { PlatformError, encodeJson, sliceMembers, type JobState, type RawJson } from '@berth/domain';
import { arrayText, objectText } from '../json-text.js';

/** `array`: the specified one. `object`: `{status, stream}`, which every official client reads (wire contract 2.7). */
export type StreamRendering = 'array' | 'object';

export interface StreamAsker {
  /** Query parameter `format`. */
  readonly format: unknown;
  readonly method: string;
  readonly contentType: string | undefined;
  readonly userAgent: string | undefined;
  readonly hasBody: boolean;
}

const OFFICIAL_AGENT = 'RunPod-JS-SDK/';

/**
 * Chooses as wire contract 2.7 orders: what the query says; then what tells an official client apart, all of which post
 * or send a JSON content type with no body; then the default of this installation.
 *
 * @throws PlatformError `invalid-query`
 */
export function chooseRendering(asker: StreamAsker, byDefault: StreamRendering): StreamRendering {
  const { format } = asker;
  if (format === 'array' || format === 'object') return format;
  if (format === undefined || format === '') return isOfficialClient(asker) ? 'object' : byDefault;
  const failure = 'format: must be array or object';
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}

function isOfficialClient({ method, contentType = '', userAgent = '', hasBody }: StreamAsker): boolean {
  const isBodylessJson = !hasBody && /^application\/json\b/i.test(contentType.trim());
  return method === 'POST' || isBodylessJson || userAgent.startsWith(OFFICIAL_AGENT);
}

/**
 * One chunk for a client: what the worker posted, with `metrics` where it posted none. A posted value without `output`
 * is itself the output.
 */
export function renderChunk(body: RawJson): RawJson {
  const members = body.trimStart().startsWith('{') ? sliceMembers(body) : null;
  const output = members?.get('output');
  if (members === null || output === undefined) return chunkText(body, NO_METRICS, []);
  const others = [...members].filter(([name]) => name !== 'output' && name !== 'metrics');
  return chunkText(output, members.get('metrics') ?? NO_METRICS, others);
}

const NO_METRICS = encodeJson({});

const chunkText = (output: RawJson, metrics: RawJson, others: readonly (readonly [string, RawJson])[]): RawJson =>
  objectText([['output', output], ['metrics', metrics], ...others]);

export interface StreamAnswer {
  readonly status: JobState;
  readonly error: string | null;
  readonly chunks: readonly RawJson[];
}

export function renderStream({ status, error, chunks }: StreamAnswer, rendering: StreamRendering): RawJson {
  const stream = arrayText(chunks.map(renderChunk));
  if (rendering === 'array') return stream;
  const members: [string, RawJson][] = [
    ['status', encodeJson(status)],
    ['stream', stream],
  ];
  if (error !== null) members.push(['error', encodeJson(error)]);
  return objectText(members);
}
