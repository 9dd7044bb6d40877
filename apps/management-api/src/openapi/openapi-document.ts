import { readFile } from 'node:fs/promises';
import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import {
  ProblemBody,
  declaredAccess,
  describeEdge,
  mapOperations,
  problemExample,
  toOpenApi31,
  withoutUnused,
  type ApiDocument,
} from '@berth/http';
import { describeMembers } from './describe-members.js';
import { describeRequests } from './describe-requests.js';
import { MANAGEMENT_DESCRIPTION, describeTags } from './document-text.js';
import { TABS_STYLE, tabsScript, type ShownInterface } from './interface-tabs.js';
import { PARAMETERS_AFTER } from './parameters-after.js';

const VERSION = '2.0.0';

const EDGE = {
  parametersAfter: PARAMETERS_AFTER,
  problemSchema: ProblemBody.name,
  problemExample,
  bodyProblems: ['body-not-json', 'invalid-fields'],
  sharedProblems: ['invalid-fields', 'precondition-failed'],
  limitHeaders: ['RateLimit', 'RateLimit-Policy'],
} as const;

/** The interface as the code has it: every operation with its bodies, headers and problems. */
export function managementDocument(app: INestApplication): ApiDocument {
  const access = declaredAccess(app);
  const declared = describeMembers(toOpenApi31(fromDecorators(app)));
  const described = describeRequests(
    describeEdge(declared, { ...EDGE, accessOf: (operationId) => access.get(handlerOf(operationId)) }),
  );
  const named = mapOperations(described, (each) => ({ ...each, operationId: idOf(each.operationId) }));
  return withoutUnused(describeTags(named));
}

/** A handler under several paths has an operation for each, numbered from 0: `DataCentersController.list[1]`. */
const NUMBER = /\[(\d+)\]$/;

const handlerOf = (operationId: string): string => operationId.replace(NUMBER, '');

/** The name of which generators make a function's: `DataCenters.list2`. */
const idOf = (operationId: string): string =>
  operationId
    .replace('Controller.', '.')
    .replace(NUMBER, (_, number) => (number === '0' ? '' : String(Number(number) + 1)));

/** The document as the decorators of controllers and bodies have it. */
const fromDecorators = (app: INestApplication): ApiDocument =>
  SwaggerModule.createDocument(
    app,
    new DocumentBuilder()
      // Says that null is a type of its own.
      .setOpenAPIVersion('3.1.0')
      .setTitle('Berth management API')
      .setVersion(VERSION)
      .setDescription(MANAGEMENT_DESCRIPTION)
      .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
      .addServer('/', 'Where this document comes from.')
      .addBearerAuth(
        { type: 'http', scheme: 'bearer', bearerFormat: 'opaque', description: 'An API key: `Bearer bk_…`.' },
        'apiKey',
      )
      .build(),
    { operationIdFactory: (controller, method) => `${controller}.${method}`, extraModels: [ProblemBody] },
  ) as unknown as ApiDocument;

const JOB_API = new URL('../../../../docs/wire/job-openapi.json', import.meta.url);
const DOCUMENTS: readonly ShownInterface[] = [
  { name: 'Management API', url: '/openapi.json' },
  { name: 'Job API', url: '/job-openapi.json' },
];

/**
 * Both interfaces, and `/docs` with a page that has each of them and whose files all come from this process. They are open
 * to everybody, so a document is put into bytes once; the framework would do that for each who asks.
 */
export function serveOpenApi(app: NestFastifyApplication): void {
  // The page reads the documents itself; one that it is given here would stand in its script, and hide the others.
  SwaggerModule.setup('docs', app, {} as OpenAPIObject, {
    raw: false,
    explorer: true,
    customSiteTitle: 'Berth',
    customCss: TABS_STYLE,
    customJsStr: tabsScript(DOCUMENTS),
    swaggerOptions: { urls: [...DOCUMENTS] },
  });
  const fastify = app.getHttpAdapter().getInstance();
  let json: Buffer | undefined;
  fastify.get('/openapi.json', (_request, reply) => {
    json ??= Buffer.from(JSON.stringify(managementDocument(app)));
    return reply.type('application/json').send(json);
  });
  let ofJobs: Promise<Buffer> | undefined;
  fastify.get('/job-openapi.json', async (_request, reply) => {
    ofJobs ??= readFile(JOB_API);
    return reply.type('application/json').send(await ofJobs);
  });
}
