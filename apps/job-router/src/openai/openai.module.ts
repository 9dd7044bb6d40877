import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { JobStreamModule } from '../job-stream/job-stream.module.js';
import { JobStream } from '../job-stream/job-stream.service.js';
import { StreamedAnswers } from '../job-stream/streamed-answers.service.js';
import { JobNotices } from '../jobs/job-notices.port.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { Platform } from '../platform.port.js';
import { AnswerRelay } from './answer-relay.js';
import { openAiMetrics } from './metrics.js';
import { OpenAiRequests } from './openai-requests.service.js';
import { OpenAiController } from './openai.controller.js';
import { WorkerOutputs } from './worker-outputs.js';

/** As long as the official client waits by default: room for a cold start with a large model. */
const QUEUE_WAIT_MS = 600_000;

/** Answers OpenAI's clients. Needs `JobNotices` and `RequestBodies`. */
@Module({
  imports: [EndpointDirectoryModule, JobsModule, JobStreamModule],
  controllers: [OpenAiController],
  providers: [
    {
      provide: OpenAiRequests,
      inject: [Platform, JobReader, JobNotices, JobStream, StreamedAnswers],
      useFactory: (
        { clock, logger, metrics, store }: Platform,
        ...[reader, notices, stream, answers]: [JobReader, JobNotices, JobStream, StreamedAnswers]
      ) => {
        const outputs = new WorkerOutputs(store, reader);
        const relay = new AnswerRelay({ stream, outputs, answers, clock, queueWaitMs: QUEUE_WAIT_MS });
        const metered = openAiMetrics(metrics, () => requests.open);
        const options = { store, reader, notices, outputs, relay, metrics: metered, logger };
        const requests = new OpenAiRequests({ ...options, queueWaitMs: QUEUE_WAIT_MS });
        return requests;
      },
    },
  ],
})
export class OpenAiModule {}
