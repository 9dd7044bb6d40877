import { request } from 'undici';

const ASK_MS = 2_000;

/** Whether the agent says that the firewall keeps its containers where they belong. */
export async function isConfined(operationsUrl: string): Promise<boolean> {
  const { body } = await request(`${operationsUrl}/metrics`, { headersTimeout: ASK_MS, bodyTimeout: ASK_MS });
  return /^berth_agent_workers_confined 1$/m.test(await body.text());
}
