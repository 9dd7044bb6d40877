import { JOB_STATES } from '@berth/domain';
import type { Header } from '@berth/http';

const text = (description: string, schema: Header['schema']): Header => ({
  description,
  required: false,
  schema: { type: 'string', ...schema },
});

/** Headers that job paths alone answer with. */
export const JOB_HEADERS: Readonly<Record<string, Header>> = {
  'Berth-Job-Id': text('Id of the job that the request became.', {
    examples: ['sync-3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55'],
  }),
  'Berth-Job-Status': text('Where the job is; not beside events.', {
    enum: [...JOB_STATES],
    examples: ['IN_PROGRESS'],
  }),
  'Berth-Next-Cursor': text('Where the next read goes on; not beside events.', {
    pattern: '^a\\d+-\\d+$',
    examples: ['a1-3'],
  }),
  'Cache-Control': text('Beside events alone: no cache keeps them, and no proxy on the way changes them.', {
    const: 'no-cache, no-transform',
    examples: ['no-cache, no-transform'],
  }),
  'X-Accel-Buffering': text('Beside events alone: no proxy on the way holds them back.', {
    const: 'no',
    examples: ['no'],
  }),
};

/** Those of `JOB_HEADERS` that come beside events. */
export const EVENT_HEADERS = ['Cache-Control', 'X-Accel-Buffering'] as const;
