import { request } from 'undici';
import { runReference } from '../reference-process.js';

/** Takes jobs one after the other and answers each with its input. */
const [, , bridge = ''] = process.argv;
runReference('', () => Promise.resolve());

for (;;) {
  const { body } = await request(`${bridge}/take`, { headersTimeout: 0 });
  const { id, input } = (await body.json()) as { id: string; input: unknown };
  const done = await request(`${bridge}/done/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ output: { echo: input } }),
  });
  await done.body.dump();
}
