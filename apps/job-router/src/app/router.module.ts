import { Module, type DynamicModule } from '@nestjs/common';
import { API_KEY_DIRECTORY, type ApiKeyDirectory } from '@berth/http';
import { AgentJobsController } from '../agents/index.js';
import type { EndpointDirectory } from '../directory/index.js';
import { RequestsController } from '../job-history/index.js';
import { JobStreamController } from '../job-stream/index.js';
import { JobsController } from '../jobs/index.js';
import { Jobs } from '../edge/index.js';
import { OpenAiController } from '../openai/index.js';
import { Platform } from '../platform/index.js';
import { RunBatchController } from '../run-batch/index.js';
import { WebhooksController } from '../webhooks/index.js';

/** Everything that answers callers of the job API. */
export const CALLER_CONTROLLERS = [
  JobsController,
  RunBatchController,
  JobStreamController,
  RequestsController,
  WebhooksController,
  OpenAiController,
];

export interface AppParts {
  readonly directory: EndpointDirectory;
  readonly platform: Platform;
  readonly jobs: Jobs;
  /** The other objects that the controllers ask for, each by its class. */
  readonly made: readonly object[];
}

/** The controllers, over what the composition has made. */
@Module({ controllers: [...CALLER_CONTROLLERS, AgentJobsController] })
export class RouterModule {
  static of({ directory, jobs, made, platform }: AppParts): DynamicModule {
    const apiKeys: ApiKeyDirectory = {
      known: (prefix) => directory.knownApiKey(prefix),
      find: (prefix) => directory.findApiKey(prefix),
    };
    return {
      module: RouterModule,
      providers: [
        { provide: API_KEY_DIRECTORY, useValue: apiKeys },
        { provide: Platform, useValue: platform },
        { provide: Jobs, useValue: jobs },
        ...[directory, ...made].map((useValue) => ({ provide: useValue.constructor, useValue })),
      ],
    };
  }
}
