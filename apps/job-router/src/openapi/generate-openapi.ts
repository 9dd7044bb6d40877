import { Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { EventStreams } from '../job-stream/event-streams.service.js';
import { JobStreamController } from '../job-stream/job-stream.controller.js';
import { JobStream } from '../job-stream/job-stream.service.js';
import { ReaderPlaces } from '../job-stream/reader-places.js';
import { StreamedAnswers } from '../job-stream/streamed-answers.service.js';
import { Jobs } from '../jobs.port.js';
import { JobCommands } from '../jobs/job-commands.service.js';
import { JobIntake } from '../jobs/job-intake.service.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { JobsController } from '../jobs/jobs.controller.js';
import { OpenAiRequests } from '../openai/openai-requests.service.js';
import { OpenAiController } from '../openai/openai.controller.js';
import { Platform } from '../platform.port.js';
import { RequestBodies } from '../request-bodies.service.js';
import { RequestsController } from '../requests/requests.controller.js';
import { Requests } from '../requests/requests.service.js';
import { RunBatchController } from '../run-batch/run-batch.controller.js';
import { RunBatch } from '../run-batch/run-batch.service.js';
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
