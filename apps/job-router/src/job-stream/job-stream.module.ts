import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { Platform } from '../platform.port.js';
import { JobStreamController } from './job-stream.controller.js';
import { JobStream } from './job-stream.service.js';
import { ReaderCursors } from './reader-cursors.js';

/** Serves stream chunks. */
@Module({
  imports: [EndpointDirectoryModule, JobsModule],
  controllers: [JobStreamController],
  providers: [
    ReaderCursors,
    {
      provide: JobStream,
      inject: [Platform, JobReader],
      useFactory: ({ store }: Platform, reader: JobReader) => new JobStream(store, reader),
    },
  ],
})
export class JobStreamModule {}
