import { QUEUE_REASONS } from '@berth/domain';
import type { Schema, Schemas } from '../json-schema/json-schema.js';
import {
  JOB_ID,
  JOB_STATUS,
  instantSchema,
  listSchema,
  objectWith,
  nullableSchema,
  refTo,
  textSchema,
  whole,
} from '../json-schema/schema-parts.js';

const PAGE = textSchema(
  'A page that explains this kind of problem.',
  'https://api.example.com/docs/problems/limit-reached',
);

/** JSON of any kind, as a worker wrote it. */
const anything = (description: string): Schema => ({ description, examples: [{ text: 'done' }] });

const JOB_ERROR = textSchema('Why the job failed; absent where it has not.', 'executionTimeout exceeded');

/** The answers about one job, and about a list of them (API decisions 2.3). */
const JOB_SCHEMAS: Schemas = {
  BriefJob: objectWith('A job, where nothing more is known or asked.', { id: JOB_ID, status: JOB_STATUS }),
  JobStatus: objectWith(
    'A job. What does not apply is absent.',
    {
      id: JOB_ID,
      status: JOB_STATUS,
      delayTime: whole('How long it waited, in milliseconds.', 120),
      executionTime: whole('How long it has run, in milliseconds.', 2_400),
      output: anything('The result; while the job runs, its last progress.'),
      error: JOB_ERROR,
      retries: whole('How often it was tried again; absent: never.', 1),
      workerId: textSchema('Id of the worker that has it or had it.', 'k3v9x0q2m7a1zd'),
      queue: refTo('JobQueue'),
      debug: refTo('JobDebug'),
    },
    ['output', 'error', 'retries', 'workerId', 'queue', 'debug'],
  ),
  JobQueue: objectWith('Why a job waits.', {
    position: nullableSchema(whole('How many are started before it, and one; null where that is not known.', 1)),
    reason: {
      type: 'string',
      enum: [...QUEUE_REASONS],
      description: 'The reason, as a word.',
      examples: ['worker-starting'],
    },
    detail: textSchema('The reason, as a sentence for people.', 'A worker is on its way'),
    since: instantSchema('Since when the reason holds.'),
    estimatedStartMs: nullableSchema(
      whole('In how many milliseconds it may start; null where nothing honest can be said.', 4_000),
    ),
  }),
  JobDebug: objectWith('Where to look for what happened to a job; only where it was asked for.', {
    traceId: textSchema('The trace that the job is a part of.', '4bf92f3577b34da6a3ce929d0e0e4736'),
    isRecorded: {
      type: 'boolean',
      description: 'Whether this installation records it, as it does of each job that fails.',
      examples: [true],
    },
  }),
  AcceptedJobs: objectWith('What became of each request of a list.', {
    jobs: listSchema({ anyOf: [refTo('BriefJob'), refTo('RejectedJob')] }, 'In the order of the requests.'),
    accepted: whole('How many were accepted.', 2),
    rejected: whole('How many were not.', 0),
  }),
  RejectedJob: objectWith('A request of a list that was not accepted.', { error: refTo('JobRefusal') }),
  JobRefusal: objectWith('Why not.', {
    type: PAGE,
    title: textSchema('Short summary, the same for every occurrence.', 'Limit of the account reached'),
    detail: textSchema('What happened here.', 'The account may have 1000000 jobs.'),
  }),
  PurgedQueue: objectWith('What a purge did.', {
    removed: whole('How many waiting jobs were removed.', 12),
    status: { type: 'string', const: 'completed', description: 'Always the same.', examples: ['completed'] },
  }),
};

const STREAM_SCHEMAS: Schemas = {
  StreamChunk: {
    ...objectWith('What a worker sent; further members of it are kept.', {
      output: anything('The chunk.'),
      metrics: {
        description: 'What the worker says of it; empty where it says nothing.',
        examples: [{ stream_index: 0 }],
      },
    }),
    additionalProperties: true,
  },
  JobStream: objectWith(
    'Chunks with the status of their job.',
    {
      status: JOB_STATUS,
      stream: listSchema(refTo('StreamChunk'), 'The chunks that are new to the reader.'),
      error: JOB_ERROR,
    },
    ['error'],
  ),
  StreamChunks: { ...listSchema(refTo('StreamChunk'), 'The chunks that are new to the reader.') },
};

const HEALTH_SCHEMAS: Schemas = {
  EndpointHealth: objectWith('Jobs and workers of an endpoint.', {
    jobs: refTo('JobCounts'),
    workers: refTo('WorkerCounts'),
  }),
  JobCounts: objectWith('Jobs, by what they are at.', {
    completed: whole('Done.', 40),
    failed: whole('Failed or timed out.', 1),
    inProgress: whole('At a worker.', 2),
    inQueue: whole('Waiting.', 3),
    retried: whole('Second tries, each of them.', 1),
  }),
  WorkerCounts: objectWith('Workers, by what they are at.', {
    idle: whole('Up, without a job.', 1),
    running: whole('At a job.', 2),
    initializing: whole('Starting.', 0),
    ready: whole('Up and taking jobs: idle or running.', 3),
    throttled: whole('Wanted, and their host, or any host, has no room for them.', 0),
    unhealthy: whole('Failed again and again.', 0),
  }),
};

export const ANSWER_SCHEMAS: Schemas = { ...JOB_SCHEMAS, ...STREAM_SCHEMAS, ...HEALTH_SCHEMAS };
