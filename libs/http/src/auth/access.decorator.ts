import { SetMetadata, createParamDecorator, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import type { Scope } from '@berth/domain';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './authenticator.js';

/** The access that a handler declares. */
export type DeclaredAccess = { readonly kind: 'public' } | { readonly kind: 'scope'; readonly scope: Scope };

export const ACCESS_METADATA = 'berth:access';

/** The handler, or every handler of the controller, needs a key with this scope. */
export const RequireScope = (scope: Scope): CustomDecorator =>
  SetMetadata(ACCESS_METADATA, { kind: 'scope', scope } satisfies DeclaredAccess);

/** The handler is open to everybody. */
export const Public = (): CustomDecorator => SetMetadata(ACCESS_METADATA, { kind: 'public' } satisfies DeclaredAccess);

/** The things that a route knows of its handler, so that hooks see it before any body is read. */
export interface HandlerRoute {
  /** `<Controller>.<method>` */
  readonly handlerName?: string;
  readonly access?: DeclaredAccess | undefined;
}

/** Empty for a route that is no handler's: documents, and methods that a path only seems to have. */
export const handlerRouteOf = ({ routeOptions }: FastifyRequest): HandlerRoute => routeOptions.config as HandlerRoute;

const callers = new WeakMap<FastifyRequest, Caller>();

export const setCaller = (request: FastifyRequest, caller: Caller): void => {
  callers.set(request, caller);
};

/** The caller; undefined on a public path, which has none. */
export const findCaller = (request: FastifyRequest): Caller | undefined => callers.get(request);

/** The caller that the guard let in. @throws Error on a public path, which has none. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = findCaller(request);
  if (caller === undefined) throw new Error(`no caller on ${request.method} ${request.url}`);
  return caller;
}

/** Injects the `Caller` into a handler. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
