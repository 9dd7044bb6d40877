import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { JOB_API_SCHEMAS } from '@berth/contracts/http';
import {
  ID_SCHEMA,
  declaredAccess,
  describeEdge,
  mapOperations,
  toOpenApi31,
  withoutUnused,
  type ApiDocument,
  type KnownParameters,
} from '@berth/http';
import { describeOpenAi, ERROR_SCHEMAS, JOB_HEADERS, jobProblemExample, SENT_WEBHOOKS } from '../openapi/index.js';
import { DESCRIPTION, TAGS } from './document-text.js';

const VERSION = '2.0.0';
const SCHEMAS = { ...JOB_API_SCHEMAS, ...ERROR_SCHEMAS };

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
  const named = mapOperations(described, (each) => ({ ...each, operationId: idOf(each.operationId) }));
  return { ...withoutUnused(named), webhooks: SENT_WEBHOOKS };
}

const idOf = (operationId: string): string => operationId.replace('Controller.', '.');

/** The document that the decorators of controllers make. */
const fromDecorators = (app: INestApplication): ApiDocument =>
  SwaggerModule.createDocument(
    app,
    new DocumentBuilder()
      .setOpenAPIVersion('3.1.0')
      .setTitle('Berth job API')
      .setVersion(VERSION)
      .setDescription(DESCRIPTION)
      .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
      .addServer('{runUrl}', 'What stands before `/v2` in `requestUrls`.', {
        runUrl: { default: 'http://127.0.0.1:8001' },
      })
      .addBearerAuth(
        {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'opaque',
          description: 'An API key: `Bearer bk_…`, or the key alone.',
        },
        'apiKey',
      )
      .build(),
    { operationIdFactory: (controller, method) => `${controller}.${method}`, autoTagControllers: false },
  ) as unknown as ApiDocument;
