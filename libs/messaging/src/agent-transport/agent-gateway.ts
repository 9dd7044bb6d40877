import {
  Catch,
  Controller,
  UseFilters,
  applyDecorators,
  type INestApplication,
  type RpcExceptionFilter,
} from '@nestjs/common';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { throwError, type Observable } from 'rxjs';
import { AgentServer, type AgentServerOptions } from './agent-server.js';

/** Hands what a handler throws to the server as it is: the framework would replace it with a text of its own. */
@Catch()
class PassOnFilter implements RpcExceptionFilter {
  catch(thrown: unknown): Observable<never> {
    return throwError(() => thrown);
  }
}

/**
 * A controller whose `@MessagePattern` handlers answer agents; what they throw reaches the agent by its code. Messages
 * to its `@EventPattern` handlers reach every other process of the service too, and get no answer.
 */
export const AgentGateway = (): ClassDecorator => applyDecorators(Controller(), UseFilters(PassOnFilter));

/**
 * Lets the application's gateways answer. It begins with `app.startAllMicroservices()` and ends with `app.close()`.
 * The application's guards, pipes and filters for HTTP do not apply to it.
 */
export function connectAgentGateway(app: INestApplication, options: AgentServerOptions): void {
  const strategy = new AgentServer(options);
  app.connectMicroservice<MicroserviceOptions>({ strategy }, { inheritAppConfig: false });
}
