import type { INestApplicationContext } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal';
import { MetadataScanner, ModulesContainer, Reflector } from '@nestjs/core';
import { ACCESS_METADATA, type DeclaredAccess } from './access.decorator.js';

type Handler = (...input: never[]) => unknown;

/** A method that answers requests. */
export interface RouteHandler {
  /** `<Controller>.<method>` */
  readonly name: string;
  readonly handler: (...input: never[]) => unknown;
  /** The value that it declares under a metadata key, or its controller. */
  readonly declared: <Declaration>(metadata: string) => Declaration | undefined;
}

export const routeHandlers = (app: INestApplicationContext): readonly RouteHandler[] =>
  controllersOf(app).flatMap(handlersOf);

/** The access that each handler declares, under its name; undefined where nothing is declared. */
export const declaredAccess = (app: INestApplicationContext): ReadonlyMap<string, DeclaredAccess | undefined> =>
  new Map(routeHandlers(app).map(({ name, declared }) => [name, declared<DeclaredAccess>(ACCESS_METADATA)] as const));

/** @throws Error naming every handler that does not say who may call it. Run at start-up: forgetting is not an option. */
export function assertAccessDeclared(app: INestApplicationContext): void {
  const undeclared = [...declaredAccess(app)].filter(([, access]) => access === undefined).map(([name]) => name);
  if (undeclared.length > 0) {
    throw new Error(`Handlers without @RequireScope or @Public: ${undeclared.join(', ')}`);
  }
}

const controllersOf = (app: INestApplicationContext): readonly Handler[] =>
  [...app.get(ModulesContainer, { strict: false }).values()]
    .flatMap((module) => [...module.controllers.values()])
    .map(({ metatype }) => metatype)
    .filter((metatype): metatype is Handler & typeof metatype => typeof metatype === 'function');

function handlersOf(controller: Handler): readonly RouteHandler[] {
  const reflector = new Reflector();
  const prototype = controller.prototype as Record<string, Handler>;
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    if (handler === undefined || !Reflect.hasMetadata(METHOD_METADATA, handler)) return [];
    const declared = <Declaration>(metadata: string) =>
      reflector.getAllAndOverride<Declaration | undefined>(metadata, [handler, controller]);
    return [{ name: `${controller.name}.${name}`, handler, declared }];
  });
}
