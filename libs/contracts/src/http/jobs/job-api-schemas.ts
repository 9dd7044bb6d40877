import type { Schemas } from '../json-schema/json-schema.js';
import { ANSWER_SCHEMAS } from './answer-schemas.js';
import { HISTORY_SCHEMAS } from './history-schemas.js';
import { REQUEST_SCHEMAS } from './request-schemas.js';

/**
 * The bodies of the job API by name. They are schemas and no classes, since the input of a job is kept byte for byte
 * (ADR 0001): a router slices it out of the text, and no object is made of it.
 */
export const JOB_API_SCHEMAS: Schemas = { ...REQUEST_SCHEMAS, ...ANSWER_SCHEMAS, ...HISTORY_SCHEMAS };
