import {
  PROBLEMS,
  mapOperations,
  mapValues,
  type ApiDocument,
  type ApiResponse,
  type Header,
  type Operation,
  type Reference,
} from '@berth/http';
import type { ErrorCode } from '@berth/domain';
import { openAiExample } from './error-schemas.js';

const ROOT = '/v2/{endpointId}/openai/';
const PROBLEM_TYPE = 'application/problem+json';
const ERROR = { $ref: '#/components/schemas/OpenAiError' };
const REQUEST_ID = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } };

/** Gives operations under `/openai` the errors that clients of OpenAI read, and those of workers. */
export const describeOpenAi = (document: ApiDocument): ApiDocument =>
  mapOperations(document, (operation, { path }) =>
    path.startsWith(ROOT) ? withOpenAiErrors(operation, document) : operation,
  );

function withOpenAiErrors(operation: Operation, { components }: ApiDocument): Operation {
  const answers = mapValues(operation.responses, (answer) => inOpenAi(resolved(answer, components.responses ?? {})));
  return { ...operation, responses: { ...answers, ...OF_WORKERS } };
}

const resolved = (answer: ApiResponse | Reference, shared: Readonly<Record<string, ApiResponse>>): ApiResponse => {
  if (!('$ref' in answer)) return answer;
  const found = shared[answer.$ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`no answer ${answer.$ref}`);
  return found;
};

function inOpenAi(answer: ApiResponse): ApiResponse {
  const media = answer.content?.[PROBLEM_TYPE];
  if (media === undefined) return answer;
  const codes = Object.keys(media.examples ?? {}) as ErrorCode[];
  const examples = Object.fromEntries(
    codes.map((code) => [code, { summary: PROBLEMS[code].title, value: openAiExample(code) }]),
  );
  return {
    ...answer,
    content: { 'application/json': { schema: ERROR, ...(codes.length === 0 ? {} : { examples }) } },
  };
}

const ofWorkers = (description: string, headers: Readonly<Record<string, Header | Reference>> = {}): ApiResponse => ({
  description,
  headers: { ...REQUEST_ID, 'Berth-Job-Id': { $ref: '#/components/headers/Berth-Job-Id' }, ...headers },
  content: { 'application/json': { schema: ERROR } },
});

const OF_WORKERS: Operation['responses'] = {
  '4XX': ofWorkers("An error that the worker answered; 410: somebody cancelled the request's job."),
  '5XX': ofWorkers('The worker failed (500), was lost in its answer (502) or took too long (504).'),
};
