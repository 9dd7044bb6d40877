import { LOG_SOURCES, readSince, type LineSource } from '@berth/domain';
import { QueryIntegerField } from '../../fields/query-field.js';
import { ChoiceField, TextField } from '../../fields/text-field.js';

const TAIL_MAX = 5_000;
export const LOG_TAIL_DEFAULT = 100;
const INSTANT_MAX = 40;
const JOB_ID = /^[A-Za-z0-9_-]{1,128}$/;
const JOB_ID_MAX = 128;

const SourceField = (): PropertyDecorator =>
  ChoiceField(LOG_SOURCES, {
    isOptional: true,
    description: 'Only what the container printed, or only what Berth says of the worker.',
    example: 'container',
  });

const TailField = (): PropertyDecorator =>
  QueryIntegerField({
    isOptional: true,
    minimum: 0,
    maximum: TAIL_MAX,
    description: `Begins with so many of the last lines of a worker: ${LOG_TAIL_DEFAULT}, or with \`since\` all of them.`,
    example: 20,
  });

const SinceField = (): PropertyDecorator =>
  TextField({
    isOptional: true,
    maxLength: INSTANT_MAX,
    format: 'date-time',
    description: 'Begins with the lines since this instant, RFC 3339.',
    example: '2026-06-01T12:00:00Z',
    rule: (text) => (readSince(text) === null ? 'must be an instant of RFC 3339' : null),
  });

/** Which lines of a worker's log are told (wire contract 5.4). */
export class WorkerLogsQueryDto {
  @SourceField()
  readonly source?: LineSource;

  @TailField()
  readonly tail?: number;

  @SinceField()
  readonly since?: string;
}

export class EndpointLogsQueryDto {
  @SourceField()
  readonly source?: LineSource;

  @TailField()
  readonly tail?: number;

  @SinceField()
  readonly since?: string;

  @TextField({
    isOptional: true,
    maxLength: JOB_ID_MAX,
    pattern: JOB_ID,
    patternReason: 'must be the id of a job',
    description: 'Only lines of this job: those that name it, and those of the only job that a worker had.',
    example: 'k3v9x0q2m7a1zd-e1',
  })
  readonly jobId?: string;
}
