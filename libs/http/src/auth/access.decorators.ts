import { SetMetadata, createParamDecorator, type CustomDecorator, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { PlatformError, type Scope } from '@berth/domain';
import type { FastifyRequest } from 'fastify';
import type { Caller } from './authenticator.js';

/** What a handler declares about who may call it. */
export type DeclaredAccess = { readonly kind: 'public' } | { readonly kind: 'scope'; readonly scope: Scope };

export const ACCESS_METADATA = 'berth:access';

/** The handler, or every handler of the controller, needs a key with this scope. */
export const RequireScope = (scope: Scope): CustomDecorator =>
  SetMetadata(ACCESS_METADATA, { kind: 'scope', scope } satisfies DeclaredAccess);

/** The handler is open to everybody. */
export const Public = (): CustomDecorator => SetMetadata(ACCESS_METADATA, { kind: 'public' } satisfies DeclaredAccess);

const reflector = new Reflector();

/**
 * What the handler of a request declares, or its controller.
 *
 * @throws PlatformError `scope-missing` where there is no declaration. Start-up refuses that; should one slip through, it
 * is closed
 */
export function accessOf(context: ExecutionContext): DeclaredAccess {
  const places = [context.getHandler(), context.getClass()];
  const declared = reflector.getAllAndOverride<DeclaredAccess | undefined>(ACCESS_METADATA, places);
  if (declared === undefined) throw new PlatformError('scope-missing', 'access denied');
  return declared;
}

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
