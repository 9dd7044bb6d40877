import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import {
  ID_SCHEMA,
  declaredAccess,
  describeEdge,
  mapOperations,
  toOpenApi31,
  type ApiDocument,
  type KnownParameters,
} from '@berth/http';
import {
  ANSWER_SCHEMAS,
  describeOpenAi,
  ERROR_SCHEMAS,
  HISTORY_SCHEMAS,
  JOB_HEADERS,
  jobProblemExample,
  REQUEST_SCHEMAS,
} from '../openapi/index.js';
import { DESCRIPTION, TAGS } from './document-text.js';

const VERSION = '2.0.0';
const SCHEMAS = { ...REQUEST_SCHEMAS, ...ANSWER_SCHEMAS, ...HISTORY_SCHEMAS, ...ERROR_SCHEMAS };

const JOB = {
  description: 'Id of the job.',
  schema: { ...ID_SCHEMA, examples: ['3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55'] },
};
const BEFORE_JOB = ['status', 'status-sync', 'cancel', 'retry', 'stream', 'requests', 'webhooks'];
const PARAMETERS_AFTER: KnownParameters = {
  v2: { description: 'Id of the endpoint.', schema: ID_SCHEMA },
  openai: {
    description: "The path of OpenAI's interface, with its slashes.",
    schema: { type: 'string', minLength: 1, examples: ['v1/chat/completions'], 'x-multi-segment': true },
  },
  ...Object.fromEntries(BEFORE_JOB.map((part) => [part, JOB])),
};

const EDGE = {
  parametersAfter: PARAMETERS_AFTER,
  problemSchema: 'JobProblem',
  problemExample: jobProblemExample,
  bodyProblems: ['body-not-json', 'invalid-job-request'],
  sharedProblems: [],
  limitHeaders: [],
} as const;

/** The job API as the code has it. */
export function openApiDocument(app: INestApplication): ApiDocument {
  const access = declaredAccess(app);
  const { components, ...declared } = toOpenApi31(fromDecorators(app));
  const given = {
    ...declared,
    tags: TAGS,
    components: { ...components, schemas: { ...components.schemas, ...SCHEMAS } },
  };
  const edged = describeEdge(given, { ...EDGE, accessOf: (operationId) => access.get(operationId) });
  const headers = { ...edged.components.headers, ...JOB_HEADERS };
  const described = describeOpenAi({ ...edged, components: { ...edged.components, headers } });
  return withoutUnused(mapOperations(described, (each) => ({ ...each, operationId: idOf(each.operationId) })));
}

const idOf = (operationId: string): string => operationId.replace('Controller.', '.');

/** What the decorators of controllers say. */
const fromDecorators = (app: INestApplication): ApiDocument =>
  SwaggerModule.createDocument(
    app,
    new DocumentBuilder()
      .setOpenAPIVersion('3.1.0')
      .setTitle('Berth job API')
      .setVersion(VERSION)
      .setDescription(DESCRIPTION)
      .addBearerAuth(
        { type: 'http', scheme: 'bearer', description: 'An API key: `Bearer bk_…`, or the key alone.' },
        'apiKey',
      )
      .build(),
    { operationIdFactory: (controller, method) => `${controller}.${method}`, autoTagControllers: false },
  ) as unknown as ApiDocument;

/** What both interfaces share may be more than this one needs. */
function withoutUnused(document: ApiDocument): ApiDocument {
  const { components, paths } = document;
  const used =
    (kind: string, among: string) =>
    ([name]: readonly [string, unknown]): boolean =>
      among.includes(`"#/components/${kind}/${name}"`);
  const ofPaths = JSON.stringify(paths);
  const responses = Object.fromEntries(Object.entries(components.responses ?? {}).filter(used('responses', ofPaths)));
  const all = `${ofPaths}${JSON.stringify(responses)}`;
  const headers = Object.fromEntries(Object.entries(components.headers ?? {}).filter(used('headers', all)));
  const examples = Object.fromEntries(Object.entries(components.examples ?? {}).filter(used('examples', all)));
  return { ...document, components: { ...components, responses, headers, examples } };
}
