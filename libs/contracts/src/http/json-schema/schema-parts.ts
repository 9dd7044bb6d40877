import { JOB_STATES } from '@berth/domain';
import type { Schema } from './json-schema.js';

const INSTANT = '2026-01-01T12:00:00.000Z';

export const refTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

export const textSchema = (description: string, example: string): Schema => ({
  type: 'string',
  description,
  examples: [example],
});

export const nullableSchema = (schema: Schema): Schema => ({
  ...schema,
  type: [schema.type, 'null'].flat() as string[],
});

export const instantSchema = (description: string): Schema => ({
  type: 'string',
  format: 'date-time',
  description,
  examples: [INSTANT],
});

/** A number of things, or a duration in whole milliseconds: clients read integers alone (wire contract 2.4). */
export const whole = (description: string, example: number): Schema => ({
  type: 'integer',
  minimum: 0,
  description,
  examples: [example],
});

export const JOB_ID = textSchema('Id of the job.', '3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55');

export const JOB_STATUS: Schema = {
  type: 'string',
  enum: [...JOB_STATES],
  description: 'Where the job is.',
  examples: ['COMPLETED'],
};

/** An object with all of these members, unless they are said to be optional. */
export const objectWith = (
  description: string,
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema => {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, ...(required.length === 0 ? {} : { required }), properties };
};

export const listSchema = (items: Schema, description: string): Schema => ({ type: 'array', items, description });
