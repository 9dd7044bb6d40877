import type { Problem } from './problem.js';

interface RenderedProblem {
  readonly contentType: string;
  readonly body: object;
}

/** @param page address of the page that explains the problem */
export type ProblemRendering = (problem: Problem, page: string, requestId: string) => RenderedProblem;

const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** The body of an error of a management path (API decisions 1.1). */
export const managementRendering: ProblemRendering = ({ title, status, detail, errors }, page, requestId) => ({
  contentType: PROBLEM_TYPE,
  body: { type: page, title, status, detail, ...(errors === undefined ? {} : { errors }), instance: requestId },
});

/** For the older form of the interface, whose errors were a `message` (wire contract 5.6). */
export const v1Rendering: ProblemRendering = (problem, page, requestId) => {
  const { body, contentType } = managementRendering(problem, page, requestId);
  return { contentType, body: { ...body, message: problem.detail } };
};

/**
 * For job paths. There is no `status` member: an official client reads `status` of any body as a job's status, finds
 * that a number is not a final one, and polls for ever (wire contract 2.4).
 */
export const jobRendering: ProblemRendering = ({ title, detail, errors }, page, requestId) => ({
  contentType: PROBLEM_TYPE,
  body: { type: page, title, detail, error: detail, ...(errors === undefined ? {} : { errors }), instance: requestId },
});

/** The names that OpenAI's own service gives its errors; its clients go by the status. */
const OPENAI_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  429: 'rate_limit_error',
};

const openAiType = (status: number): string =>
  OPENAI_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'server_error');

/** For paths that OpenAI's clients call: they read `error.message`, `type`, `code` and `param`. */
export const openAiRendering: ProblemRendering = ({ code, detail, status }) => ({
  contentType: 'application/json; charset=utf-8',
  body: { error: { message: detail, type: openAiType(status), code: code.replaceAll('-', '_'), param: null } },
});
