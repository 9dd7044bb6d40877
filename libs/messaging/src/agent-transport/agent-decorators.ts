import { TRACEPARENT_HEADER, hostOfSubject } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import type { MsgHdrs } from '@nats-io/transport-node';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { NatsContext } from '@nestjs/microservices';

const natsContext = (context: ExecutionContext): NatsContext => context.switchToRpc().getContext<NatsContext>();

/** Injects the host that a request's subject names. The broker has checked that it is the sender's own. */
export const CurrentHost = createParamDecorator((_: unknown, context: ExecutionContext): HostId =>
  hostOfSubject(natsContext(context).getSubject()),
);

/** Injects the request's W3C trace context, or null. */
export const CurrentTraceparent = createParamDecorator((_: unknown, context: ExecutionContext): string | null => {
  const headers = natsContext(context).getHeaders() as MsgHdrs | undefined;
  const value = headers?.get(TRACEPARENT_HEADER) ?? '';
  return value === '' ? null : value;
});
