import { PlatformError, encodeJson, sliceMembers, type RawJson } from '@berth/domain';
import { jsonKindOf, objectText } from '../platform/index.js';

const PATH = /^\/v2\/[^/?]+\/openai(?=\/|\?|$)/;

/** True for the addresses under which OpenAI's clients find their paths. */
export const isOpenAiUrl = (url: string): boolean => PATH.test(url);

const STREAM: ReadonlySet<string> = new Set(['stream']);

export interface OpenAiRequest {
  /** The job's input, as workers for this interface read it. */
  readonly input: RawJson;
  /** The answer is to come piece by piece. */
  readonly isStreamed: boolean;
}

/**
 * The input that a request becomes: `openai_route` is the address after `/openai`, with its query where it has one;
 * `openai_input` the body's text as it came. A `GET` has none, by which the workers tell it.
 *
 * @param url as it stands in the request line
 * @throws PlatformError `body-not-json`, `invalid-job-request`
 */
export function readOpenAiRequest(method: string, url: string, body: string): OpenAiRequest {
  const route: readonly [string, RawJson] = ['openai_route', encodeJson(url.replace(PATH, ''))];
  if (method === 'GET') return { input: objectText([route]), isStreamed: false };
  const members = membersOf(body);
  return {
    input: objectText([route, ['openai_input', (body.trim() === '' ? '{}' : body) as RawJson]]),
    isStreamed: members.get('stream') === 'true',
  };
}

function membersOf(body: string): ReadonlyMap<string, RawJson> {
  if (body.trim() === '') return new Map();
  if (jsonKindOf(body) !== 'object') {
    throw new PlatformError('invalid-job-request', 'The body must be a JSON object.');
  }
  return sliceMembers(body, { wanted: STREAM });
}
