import { Module } from '@nestjs/common';
import { BodyBudget } from '@berth/http';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { Jobs } from '../edge/jobs.port.js';
import { JobReader } from '../jobs/job-reader.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { Platform } from '../platform/platform.js';
import { EventStreams } from './event-streams.js';
import { JobStreamController } from './job-stream.controller.js';
import { JobStream } from './job-stream.js';
import { streamMetrics } from './metrics.js';
import { ReaderPlaces } from './reader-places.js';
import { SharedCursors } from './shared-cursors.port.js';
import { StreamedAnswers } from './streamed-answers.js';

/** Serves stream chunks. Needs `Jobs` and `SharedCursors`. */
@Module({
  imports: [EndpointDirectoryModule, JobsModule],
  controllers: [JobStreamController],
  providers: [
    {
      provide: ReaderPlaces,
      inject: [SharedCursors, Platform],
      useFactory: (cursors: SharedCursors, { logger }: Platform) => new ReaderPlaces(cursors, logger),
    },
    {
      provide: JobStream,
      inject: [Platform, Jobs, JobReader],
      useFactory: ({ clock }: Platform, jobs: Jobs, reader: JobReader) => new JobStream({ jobs, reader, clock }),
    },
    {
      provide: StreamedAnswers,
      inject: [Platform],
      useFactory: ({ clock, metrics }: Platform) => {
        const budget = new BodyBudget();
        const answers = new StreamedAnswers({ budget, clock });
        streamMetrics(metrics, answers, budget);
        return answers;
      },
    },
    {
      provide: EventStreams,
      inject: [JobStream, JobReader, StreamedAnswers],
      useFactory: (stream: JobStream, reader: JobReader, answers: StreamedAnswers) =>
        new EventStreams({ stream, reader, answers }),
    },
  ],
  exports: [JobStream, StreamedAnswers],
})
export class JobStreamModule {}
