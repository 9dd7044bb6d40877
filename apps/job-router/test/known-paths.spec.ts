import 'reflect-metadata';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/internal';
import { whichApi } from '@berth/http';
import { expect, test } from '@jest/globals';
import { JobStreamController } from '../src/job-stream/job-stream.controller.js';
import { JobsController } from '../src/jobs/jobs.controller.js';
import { OpenAiController } from '../src/openai/openai.controller.js';
import { RequestsController } from '../src/job-history/requests.controller.js';
import { RunBatchController } from '../src/run-batch/run-batch.controller.js';
import { WebhooksController } from '../src/webhooks/webhooks.controller.js';

const CONTROLLERS = [
  JobStreamController,
  JobsController,
  OpenAiController,
  RequestsController,
  RunBatchController,
  WebhooksController,
];

const pathsOf = (controller: (typeof CONTROLLERS)[number]): readonly string[] => {
  const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
  return Object.values(Object.getOwnPropertyDescriptors(controller.prototype))
    .map(({ value }: PropertyDescriptor) => value as object)
    .filter((handler) => Reflect.hasMetadata(METHOD_METADATA, handler))
    .flatMap((handler) => [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat())
    .map((path) => `/${base}/${path.replace(/^\//, '')}`);
};

test('every path of the job API is known as one of its paths, so that the management API can say whose it is', () => {
  const paths = CONTROLLERS.flatMap(pathsOf);
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => whichApi(path) !== 'jobs')).toEqual([]);
});
