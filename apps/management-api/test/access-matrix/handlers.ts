import 'reflect-metadata';
import { RequestMethod } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import { ManagementModule } from '../../src/app/management.module.js';

type Handler = (...input: never[]) => unknown;

/** Every operation that a handler of the application answers, as the document writes it: `GET /v2/serverless/{id}`. */
export const handledRoutes = (): readonly string[] =>
  (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, ManagementModule) as readonly Handler[]).flatMap(routesOf).sort();

function routesOf(controller: Handler): readonly string[] {
  const prototype = controller.prototype as Record<string, Handler>;
  const bases = pathsAt(controller);
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    const verb = handler === undefined ? undefined : (Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod);
    if (handler === undefined || verb === undefined) return [];
    return bases.flatMap((base) => pathsAt(handler).map((path) => `${RequestMethod[verb]} ${joined(base, path)}`));
  });
}

const pathsAt = (target: Handler): readonly string[] =>
  [(Reflect.getMetadata(PATH_METADATA, target) as string | readonly string[] | undefined) ?? ''].flat();

const joined = (...parts: readonly string[]): string => {
  const names = parts.flatMap((part) => part.split('/')).filter((name) => name !== '');
  return `/${names.map((name) => name.replace(/^:(.*)$/, '{$1}')).join('/')}`;
};
