import type { ApiDocument, Operation } from '@berth/http';

type Parameter = NonNullable<Operation['parameters']>[number];

const header = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', examples: [example] },
});

const ID = '3f2a9c10-5d0f-4f6c-9a8e-0a4c2b7d1e55';
const RECEIVER = 'https://hooks.example.com/jobs';

const TOLD_JOB = {
  id: ID,
  status: 'COMPLETED',
  delayTime: 120,
  executionTime: 2_400,
  output: { text: 'done' },
  workerId: 'k3v9x0q2m7a1zd',
  input: { prompt: 'A town by the sea' },
  webhook: RECEIVER,
} as const;

/** The requests that Berth sends to the `webhook` of a job (API decisions 2.18). */
export const SENT_WEBHOOKS: NonNullable<ApiDocument['webhooks']> = {
  'job-ended': {
    post: {
      operationId: 'Webhooks.jobEnded',
      tags: ['Jobs'],
      summary: 'Hear how a job ended',
      description:
        'Sent to the `webhook` of a job that is `COMPLETED`, `FAILED`, `TIMED_OUT` or `CANCELLED`, and signed by the rules ' +
        'of Standard Webhooks with each valid secret of the endpoint. A message is tried three times, under one id.',
      security: [],
      parameters: [
        header('webhook-id', 'Id of the message, the same in all tries.', `msg_${ID}_1`),
        header('webhook-timestamp', 'When this try was signed, in seconds since 1970.', '1767268800'),
        header(
          'webhook-signature',
          'A signature for each secret, with spaces between: `v1,` and the base64 of an HMAC-SHA256.',
          'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: {
              allOf: [
                { $ref: '#/components/schemas/JobStatus' },
                {
                  type: 'object',
                  required: ['input', 'webhook'],
                  properties: {
                    input: {
                      type: 'object',
                      additionalProperties: true,
                      description: 'What the job was given, byte for byte.',
                      examples: [TOLD_JOB.input],
                    },
                    webhook: {
                      type: 'string',
                      format: 'uri',
                      description: 'Where this was sent to.',
                      examples: [RECEIVER],
                    },
                  },
                },
              ],
            },
            examples: { full: { summary: 'A job that is done', value: TOLD_JOB } },
          },
        },
      },
      responses: {
        '2XX': { description: 'Taken: the message is not sent again.' },
        '3XX': { description: 'Redirects are not followed: the try has failed.' },
        '4XX': { description: 'The try has failed.' },
        '5XX': { description: 'The try has failed.' },
      },
    },
  },
};
