import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { CALLER_CONTROLLERS } from '../app/index.js';
import { openApiDocument } from './openapi-document.js';

/** The things that the controllers are given. In a preview none of them is made, but each has to be named. */
const NAMES = new Set(
  CALLER_CONTROLLERS.flatMap((controller) => Reflect.getMetadata('design:paramtypes', controller) as Type[]),
);

@Module({
  controllers: CALLER_CONTROLLERS,
  providers: Array.from(NAMES, (provide) => ({ provide, useValue: null })),
})
class CallersModule {}

/** The document as it is checked in. Nothing is started for it: the controllers' declarations are all it takes. */
export async function generateJobOpenApi(): Promise<string> {
  const app = await NestFactory.create(CallersModule, new FastifyAdapter(), {
    logger: false,
    preview: true,
    abortOnError: false,
  });
  return `${JSON.stringify(openApiDocument(app), null, 2)}\n`;
}
