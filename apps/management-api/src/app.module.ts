import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AccountsController } from './accounts/accounts.controller.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { EndpointsController } from './endpoints/endpoints.controller.js';
import { HostSessionsController } from './host-sessions/host-sessions.controller.js';
import { HostsController } from './hosts/hosts.controller.js';
import { ProblemsController } from './problems/problems.controller.js';
import { WorkersController } from './workers/workers.controller.js';

/** Everything that answers requests, over HTTP and over NATS. */
@Module({
  controllers: [
    AccountsController,
    ApiKeysController,
    EndpointsController,
    HostSessionsController,
    HostsController,
    ProblemsController,
    WorkersController,
  ],
})
export class AppModule {
  /** @param providers the services behind the controllers */
  static of(providers: Provider[]): DynamicModule {
    return { module: AppModule, providers };
  }
}
