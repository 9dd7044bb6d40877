import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { JobStreamModule } from '../job-stream/job-stream.module.js';
import { JobStream } from '../job-stream/job-stream.js';
import { StreamedAnswers } from '../job-stream/streamed-answers.js';
import { Jobs } from '../edge/jobs.port.js';
import { HeldCalls } from '../jobs/held-calls.js';
import { JobReader } from '../jobs/job-reader.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { Platform } from '../platform/platform.js';
import { AnswerRelay } from './answer-relay.js';
import { openAiMetrics } from './metrics.js';
import { OpenAiRequests } from './openai-requests.js';
import { OpenAiController } from './openai.controller.js';
import { WorkerOutputs } from './worker-outputs.js';

/** As long as the official client waits by default: room for a cold start with a large model. */
const QUEUE_WAIT_MS = 600_000;

/** Answers OpenAI's clients. Needs `Jobs` and `RequestBodies`. */
@Module({
  imports: [EndpointDirectoryModule, JobsModule, JobStreamModule],
  controllers: [OpenAiController],
  providers: [
    {
      provide: OpenAiRequests,
      inject: [Platform, Jobs, JobReader, JobStream, StreamedAnswers, HeldCalls],
      useFactory: (
        { clock, logger, metrics }: Platform,
        ...[jobs, reader, stream, answers, held]: [Jobs, JobReader, JobStream, StreamedAnswers, HeldCalls]
      ) => {
        const outputs = new WorkerOutputs(jobs, reader);
        const relay = new AnswerRelay({ stream, outputs, answers, clock, queueWaitMs: QUEUE_WAIT_MS });
        const metered = openAiMetrics(metrics, () => requests.open);
        const options = { jobs, reader, held, outputs, relay, metrics: metered, clock, logger };
        const requests = new OpenAiRequests({ ...options, queueWaitMs: QUEUE_WAIT_MS });
        return requests;
      },
    },
  ],
})
export class OpenAiModule {}
