import { STATUS_CODES } from 'node:http';
import type { DeclaredAccess } from '../auth/access.decorator.js';
import { PROBLEMS_EXTENSION } from '../problems/api-problems.decorator.js';
import {
  mapOperations,
  mapValues,
  type ApiDocument,
  type ApiResponse,
  type Operation,
  type Parameter,
  type OperationPlace,
} from './api-document.js';
import type { EdgeAnswers } from './edge-answers.js';
import { EDGE_HEADERS, headerReferences, type EdgeHeader } from './edge-headers.js';
import { EdgeProblems } from './edge-problems.js';
import { pathParameters } from './path-parameters.js';

const NOT_MODIFIED = 304;
const LAST_PARAMETER = /\/\{\w+\}$/;

/**
 * Adds what the edge does around every handler: keys, scopes, rate limits, entity tags, and the problems that come of
 * them. A handler documents only what is particular to it.
 */
export function describeEdge(document: ApiDocument, edge: EdgeAnswers): ApiDocument {
  const versioned = versionedPaths(document);
  const problems = new EdgeProblems(edge);
  const described = mapOperations(document, (operation, place) =>
    withEdge(operation, place, {
      access: edge.accessOf(operation.operationId),
      isVersioned: versioned.has(place.path),
      edge,
      problems,
    }),
  );
  const components = { responses: problems.shared(), headers: EDGE_HEADERS, examples: problems.examples() };
  return { ...described, components: { ...described.components, ...components } };
}

/** A resource that can be changed under a precondition shows its version, where it is made too. */
function versionedPaths({ paths }: ApiDocument): ReadonlySet<string> {
  const changeable = Object.entries(paths)
    .filter(([, operations]) => Object.values(operations).some((operation) => takesHeader(operation, 'If-Match')))
    .map(([path]) => path);
  return new Set(changeable.flatMap((path) => [path, path.replace(LAST_PARAMETER, '')]));
}

interface Facts {
  readonly access: DeclaredAccess | undefined;
  readonly isVersioned: boolean;
  readonly edge: EdgeAnswers;
  readonly problems: EdgeProblems;
}

function withEdge(given: Operation, { method, path }: OperationPlace, facts: Facts): Operation {
  const { access, edge, isVersioned, problems } = facts;
  const { [PROBLEMS_EXTENSION]: particular = [], parameters = [], ...declared } = given;
  const isOne = LAST_PARAMETER.test(path);
  const conditional = isVersioned && isOne && method === 'get' ? conditionalRead(problems) : NOTHING;
  const operation = {
    ...declared,
    parameters: [
      ...pathParameters(parameters, path, edge.parametersAfter),
      ...parameters.filter((each) => each.in !== 'path'),
      ...(conditional.parameters ?? []),
    ],
  };
  return {
    ...operation,
    ...withAccess(operation.description, access),
    responses: {
      ...successes(operation, isVersioned && (isOne || method === 'post'), problems),
      ...conditional.responses,
      ...problems.answers([...particular, ...problems.of(operation, method, access?.kind === 'public')]),
    },
  };
}

function withAccess(
  description: string | undefined,
  access: DeclaredAccess | undefined,
): Pick<Operation, 'description' | 'security'> {
  if (access?.kind !== 'scope') return { security: [] };
  const { scope } = access;
  const sentences = [...(description === undefined ? [] : [description]), `Needs the scope \`${scope}\`.`];
  return { description: sentences.join('\n\n'), security: [{ apiKey: [scope] }] };
}

function successes(operation: Operation, isVersioned: boolean, problems: EdgeProblems): Operation['responses'] {
  const isReplayable = takesHeader(operation, 'Idempotency-Key');
  return mapValues(operation.responses, (answer, status) =>
    '$ref' in answer
      ? answer
      : describeAnswer(answer, Number(status), [
          ...problems.headersOf(Number(status)),
          ...(isVersioned && answer.content !== undefined ? ['ETag' as const] : []),
          ...(isReplayable ? ['Idempotency-Replayed' as const] : []),
        ]),
  );
}

const describeAnswer = (answer: ApiResponse, status: number, headers: readonly EdgeHeader[]): ApiResponse => ({
  ...answer,
  description: answer.description === '' ? (STATUS_CODES[status] ?? '') : answer.description,
  headers: { ...headerReferences(headers), ...answer.headers },
});

const takesHeader = ({ parameters = [] }: Operation, name: string): boolean =>
  parameters.some((parameter) => parameter.in === 'header' && parameter.name === name);

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'Entity tags of the versions that the caller has. In one of them the answer is 304, without a body.',
  schema: { type: 'string', examples: ['"7"'] },
};

/** The parts that a versioned resource adds to an operation that reads it. */
const conditionalRead = (problems: EdgeProblems): Pick<Operation, 'parameters' | 'responses'> => ({
  parameters: [IF_NONE_MATCH],
  responses: {
    [NOT_MODIFIED]: describeAnswer({ description: '' }, NOT_MODIFIED, [...problems.headersOf(NOT_MODIFIED), 'ETag']),
  },
});
const NOTHING = { parameters: [], responses: {} };
