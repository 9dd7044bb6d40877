import { listSchema, nullableSchema, objectWith, textSchema, type Schemas } from '@berth/contracts/http';
import { PlatformError, type ErrorCode } from '@berth/domain';
import { jobRendering, openAiRendering, problemExample, toProblem } from '@berth/http';

const REQUEST_ID = 'req_q8w2e5r1t6y9ui3o4p7a0s1d';
const DETAIL = 'No such job: it never was, or its time to live or retention is over.';

/** The two shapes of an error (API decisions 1.1). No job path names the HTTP status in a body (wire contract 2.4). */
export const ERROR_SCHEMAS: Schemas = {
  JobProblem: objectWith(
    'An error of a job path.',
    {
      type: {
        ...textSchema(
          'A page that explains this kind of problem. Its last part is the code to branch on.',
          pageOf('job-not-found'),
        ),
        // Without an address of its own a router names the page by its path.
        format: 'uri-reference',
      },
      title: textSchema('Short summary, the same for every occurrence.', 'Job not found'),
      detail: textSchema('What happened here.', DETAIL),
      error: textSchema('The same text as `detail`.', DETAIL),
      errors: { ...listSchema({ type: 'string' }, 'Each single failure.'), examples: [['$.input: is required']] },
      instance: textSchema('Id of the request, as the log has it.', REQUEST_ID),
    },
    ['errors'],
  ),
  OpenAiError: objectWith('An error as clients of OpenAI read it.', {
    error: { $ref: '#/components/schemas/OpenAiFailure' },
  }),
  OpenAiFailure: objectWith('What went wrong.', {
    message: textSchema('What happened here.', 'The worker failed.'),
    type: textSchema('The kind of error.', 'invalid_request_error'),
    code: {
      type: ['string', 'integer', 'null'],
      description: 'The code to branch on.',
      examples: ['job_cancelled'],
    },
    param: nullableSchema(textSchema('The parameter that it is about.', 'model')),
  }),
};

function pageOf(code: ErrorCode): string {
  return `https://api.example.com/docs/problems/${code}`;
}

/** A problem of this kind as a job path answers it. */
export const jobProblemExample = (code: ErrorCode): object =>
  jobRendering(problemOf(code), pageOf(code), REQUEST_ID).body;

/** The same under `/openai`. */
export const openAiExample = (code: ErrorCode): object =>
  openAiRendering(problemOf(code), pageOf(code), REQUEST_ID).body;

function problemOf(code: ErrorCode): ReturnType<typeof toProblem> {
  const { detail, errors } = problemExample(code) as { detail: string; errors?: readonly string[] };
  return toProblem(new PlatformError(code, detail, errors === undefined ? {} : { errors }));
}
