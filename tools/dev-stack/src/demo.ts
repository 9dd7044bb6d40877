import type { StackClient } from './management-client.js';

interface EndpointBody {
  readonly id: string;
  readonly name: string;
}

export interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
}

const NAME = 'python-echo';
const WAIT_MS = 300_000;
const ANSWER_SLACK_MS = 10_000;

/** The sample endpoint, made at the first start and found again at every other. */
export async function ensureSampleEndpoint(client: StackClient, baseUrl: string): Promise<string> {
  const { endpoints } = await client.get<{ endpoints: EndpointBody[] }>(`${baseUrl}/v2/serverless`);
  const present = endpoints.find((endpoint) => endpoint.name === NAME);
  if (present !== undefined) return present.id;
  const created = await client.post<EndpointBody>(`${baseUrl}/v2/serverless`, {
    name: NAME,
    type: 'QUEUE',
    image: `local/${NAME}`,
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
    workers: { min: 0, max: 3, idleTimeout: 60 },
  });
  return created.id;
}

/** Runs one job like a user would, cold start and all. */
export async function runFirstJob(client: StackClient, runUrl: string, endpointId: string): Promise<JobBody> {
  const url = `${runUrl}/v2/${endpointId}/runsync?wait=${WAIT_MS}`;
  return client.post<JobBody>(url, { input: { message: 'ahoy' } }, WAIT_MS + ANSWER_SLACK_MS);
}

export const curlExample = (runUrl: string, endpointId: string, apiKey: string): string =>
  [
    `curl -X POST ${runUrl}/v2/${endpointId}/runsync`,
    `-H 'Authorization: Bearer ${apiKey}'`,
    `-H 'Content-Type: application/json'`,
    `-d '{"input":{"message":"hello"}}'`,
  ].join(' \\\n  ');
