import {
  BATCH_REQUESTS_MAX,
  EXECUTION_TIMEOUT_MAX_MS,
  EXECUTION_TIMEOUT_MIN_MS,
  EXTRAS_MAX_BYTES,
  TTL_DEFAULT_MS,
  TTL_MAX_MS,
  TTL_MIN_MS,
} from '@berth/domain';
import type { Schema, Schemas } from '../json-schema/json-schema.js';
import { refTo } from '../json-schema/schema-parts.js';

const milliseconds = (minimum: number, maximum: number, more: Schema): Schema => ({
  type: ['integer', 'null'],
  minimum,
  maximum,
  ...more,
});

const s3Text = (description: string, example: string): Schema => ({
  type: ['string', 'null'],
  maxLength: EXTRAS_MAX_BYTES,
  description,
  examples: [example],
});

/** The bodies that callers send (API decisions 2.1). Members that are not named here go to the worker as they came. */
export const REQUEST_SCHEMAS: Schemas = {
  JobRequest: {
    type: 'object',
    description: `Members beside \`input\` may take ${EXTRAS_MAX_BYTES} bytes; those that are unknown go to the worker.`,
    required: ['input'],
    additionalProperties: true,
    properties: {
      input: {
        type: 'object',
        description: 'What the worker gets, byte for byte as it came.',
        additionalProperties: true,
        examples: [{ prompt: 'A town by the sea' }],
      },
      webhook: {
        type: ['string', 'null'],
        format: 'uri',
        maxLength: EXTRAS_MAX_BYTES,
        description: 'Where the end of the job is told to; null: nowhere.',
        examples: ['https://hooks.example.com/jobs'],
      },
      policy: {
        anyOf: [refTo('JobPolicy'), { type: 'null' }],
        description: 'Limits of this job; null: those by default.',
      },
      s3Config: {
        anyOf: [refTo('S3Config'), { type: 'null' }],
        description: 'Handed to the worker, and kept encrypted until then.',
      },
    },
  },
  JobPolicy: {
    type: 'object',
    description: 'Limits of one job.',
    additionalProperties: true,
    properties: {
      executionTimeout: milliseconds(EXECUTION_TIMEOUT_MIN_MS, EXECUTION_TIMEOUT_MAX_MS, {
        description: "How long an attempt may run, in milliseconds; else the endpoint's `timeout`.",
        examples: [300_000],
      }),
      ttl: milliseconds(TTL_MIN_MS, TTL_MAX_MS, {
        default: TTL_DEFAULT_MS,
        description: 'How long the job lives after its submission, in milliseconds, whatever its state.',
        examples: [TTL_DEFAULT_MS],
      }),
      lowPriority: {
        type: ['boolean', 'null'],
        default: false,
        description: 'Brings no worker, and is started behind all other jobs.',
        examples: [false],
      },
    },
  },
  S3Config: {
    type: 'object',
    description: 'A bucket for the worker.',
    additionalProperties: true,
    properties: {
      accessId: s3Text('Id of the access key.', 'AKIAEXAMPLE'),
      accessSecret: s3Text('The access key.', 'example'),
      bucketName: s3Text('Name of the bucket.', 'results'),
      endpointUrl: s3Text('Address of the store.', 'https://s3.example.com'),
      objectPath: s3Text('Path of the object.', 'team/one'),
    },
  },
  JobBatch: {
    type: 'object',
    description: 'Many requests at once. One that is malformed refuses the whole list.',
    required: ['requests'],
    additionalProperties: false,
    properties: {
      requests: {
        type: 'array',
        minItems: 1,
        maxItems: BATCH_REQUESTS_MAX,
        items: refTo('JobRequest'),
        description: 'Each as for `run`.',
      },
    },
  },
};
