import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';

const DESCRIPTION = [
  'Endpoints, their workers, API keys, accounts and hosts.',
  '',
  'Every request carries `Authorization: Bearer <API_KEY>`. Errors are `application/problem+json`; their `type` is a page',
  'that says what happened and how to mend it, their `instance` the id under which the log knows the request.',
  'Unknown ids and ids of other accounts get the same 404.',
].join('\n');

/** The interface as the code has it: every operation with its bodies and problems. */
export const openApiDocument = (app: INestApplication): OpenAPIObject =>
  SwaggerModule.createDocument(
    app,
    new DocumentBuilder()
      .setTitle('Berth management API')
      .setVersion('2.0.0')
      .setDescription(DESCRIPTION)
      .addBearerAuth({ type: 'http', scheme: 'bearer' }, 'apiKey')
      .addSecurityRequirements('apiKey')
      .build(),
    { operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}.${method}` },
  );

/** `/openapi.json`, and `/docs` with a page whose files all come from this process. */
export function serveOpenApi(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app), {
    jsonDocumentUrl: 'openapi.json',
    customSiteTitle: 'Berth management API',
  });
}
