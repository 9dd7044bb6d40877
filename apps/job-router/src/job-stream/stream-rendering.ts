import { PlatformError, encodeJson, sliceMembers, type JobState, type RawJson } from '@berth/domain';
import { arrayText, objectText } from '../platform/index.js';

/**
 * `array`: the specified one. `object`: `{status, stream}`, which every official client reads (wire contract 2.7).
 * `events`: server-sent events, until the job ends.
 */
export type StreamRendering = 'array' | 'object' | 'events';

export interface StreamAsker {
  /** Query parameter `format`. */
  readonly format: unknown;
  readonly method: string;
  readonly accept: string | undefined;
  readonly contentType: string | undefined;
  readonly userAgent: string | undefined;
  readonly hasBody: boolean;
}

const OFFICIAL_AGENT = 'RunPod-JS-SDK/';
const EVENT_STREAM = /(^|,)\s*text\/event-stream\s*(;|,|$)/i;

const FORMATS: ReadonlyMap<unknown, StreamRendering> = new Map<unknown, StreamRendering>([
  ['array', 'array'],
  ['object', 'object'],
  ['sse', 'events'],
]);

/**
 * Chooses as wire contract 2.7 orders: what the query says; then events for a reader that accepts them; then what tells an
 * official client apart, all of which post or send a JSON content type with no body; then the default of this
 * installation.
 *
 * @throws PlatformError `invalid-query`
 */
export function chooseRendering(asker: StreamAsker, byDefault: StreamRendering): StreamRendering {
  const { format, accept = '' } = asker;
  const named = FORMATS.get(format);
  if (named !== undefined) return named;
  if (format === undefined || format === '') {
    if (EVENT_STREAM.test(accept)) return 'events';
    return isOfficialClient(asker) ? 'object' : byDefault;
  }
  const failure = 'format: must be array, object or sse';
  throw new PlatformError('invalid-query', failure, { errors: [failure] });
}

function isOfficialClient({ method, contentType = '', userAgent = '', hasBody }: StreamAsker): boolean {
  const isBodylessJson = !hasBody && /^application\/json\b/i.test(contentType.trim());
  return method === 'POST' || isBodylessJson || userAgent.startsWith(OFFICIAL_AGENT);
}

/** The name of the official Python client, whichever library it sends with. */
const PYTHON = /python/i;

/**
 * The status that an object tells. The official Python client knows no `CANCELLED` in `stream()` and would ask for ever
 * (wire contract 2.7), so it reads `FAILED` there, and the truth everywhere else.
 */
export const shownStatus = (status: JobState, { format, userAgent = '' }: StreamAsker): JobState =>
  status === 'CANCELLED' && format === undefined && PYTHON.test(userAgent) ? 'FAILED' : status;

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

export function renderStream(
  { status, error, chunks }: StreamAnswer,
  rendering: Exclude<StreamRendering, 'events'>,
): RawJson {
  const stream = arrayText(chunks.map(renderChunk));
  if (rendering === 'array') return stream;
  const members: [string, RawJson][] = [
    ['status', encodeJson(status)],
    ['stream', stream],
  ];
  if (error !== null) members.push(['error', encodeJson(error)]);
  return objectText(members);
}
