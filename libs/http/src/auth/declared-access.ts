import type { INestApplicationContext } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ACCESS_METADATA } from './access.decorators.js';

type Handler = (...input: never[]) => unknown;

/** @throws Error naming every handler that does not say who may call it. Run at start-up: forgetting is not an option. */
export function assertAccessDeclared(app: INestApplicationContext): void {
  const undeclared = controllersOf(app).flatMap(undeclaredHandlers);
  if (undeclared.length > 0) {
    throw new Error(`Handlers without @RequireScope or @Public: ${undeclared.join(', ')}`);
  }
}

const controllersOf = (app: INestApplicationContext): readonly Handler[] =>
  [...app.get(ModulesContainer, { strict: false }).values()]
    .flatMap((module) => [...module.controllers.values()])
    .map(({ metatype }) => metatype)
    .filter((metatype): metatype is Handler & typeof metatype => typeof metatype === 'function');

function undeclaredHandlers(controller: Handler): readonly string[] {
  const reflector = new Reflector();
  const prototype = controller.prototype as Record<string, Handler>;
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => {
      const handler = prototype[name];
      if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) return false;
      return reflector.getAllAndOverride<unknown>(ACCESS_METADATA, [handler, controller]) === undefined;
    })
    .map((name) => `${controller.name}.${name}`);
}
