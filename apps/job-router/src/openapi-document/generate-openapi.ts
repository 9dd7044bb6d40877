import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EndpointDirectory } from '../directory/endpoint-directory.js';
import { EventStreams } from '../job-stream/event-streams.js';
import { JobStreamController } from '../job-stream/job-stream.controller.js';
import { JobStream } from '../job-stream/job-stream.js';
import { ReaderPlaces } from '../job-stream/reader-places.js';
import { StreamedAnswers } from '../job-stream/streamed-answers.js';
import { Jobs } from '../edge/jobs.port.js';
import { JobCommands } from '../jobs/job-commands.js';
import { JobIntake } from '../jobs/job-intake.js';
import { JobReader } from '../jobs/job-reader.js';
import { JobsController } from '../jobs/jobs.controller.js';
import { OpenAiRequests } from '../openai/openai-requests.js';
import { OpenAiController } from '../openai/openai.controller.js';
import { Platform } from '../platform/platform.js';
import { RequestBodies } from '../request-bodies/request-bodies.js';
import { RequestsController } from '../job-history/requests.controller.js';
import { Requests } from '../job-history/requests.js';
import { RunBatchController } from '../run-batch/run-batch.controller.js';
import { RunBatch } from '../run-batch/run-batch.js';
import { WebhooksController } from '../webhooks/webhooks.controller.js';
import { openApiDocument } from './openapi-document.js';

/** Everything that answers callers. */
const CONTROLLERS: Type[] = [
  JobsController,
  RunBatchController,
  JobStreamController,
  RequestsController,
  WebhooksController,
  OpenAiController,
];

/** What the controllers are given. In a preview nothing is made of it, but everything has to be named. */
const NAMES = [
  EndpointDirectory,
  EventStreams,
  JobCommands,
  JobIntake,
  JobReader,
  JobStream,
  Jobs,
  OpenAiRequests,
  Platform,
  ReaderPlaces,
  RequestBodies,
  Requests,
  RunBatch,
  StreamedAnswers,
];

@Module({ controllers: CONTROLLERS, providers: NAMES.map((provide) => ({ provide, useValue: null })) })
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
