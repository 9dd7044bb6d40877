// A worker that prints what no log is made for, as fast as it can, and then counts. It takes no jobs.

import { setInterval } from 'node:timers';

const { env, stdout } = process;
const LINES = 300_000;
const COUNT_MS = 50;

const write = (bytes) => new Promise((resolve) => stdout.write(bytes, resolve));

await fetch(`${env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', env.RUNPOD_POD_ID)}&job_in_progress=0`, {
  headers: { authorization: env.RUNPOD_AI_API_KEY },
  signal: AbortSignal.timeout(1_000),
}).catch(() => undefined);

await write(Buffer.from([0, 1, 2, 0xff, 0xfe, 0xc3, 0x28, 0x0a]));
await write('\u001b[31mred\u001b[0m \u001b]0;title\u0007alert\n');
await write(`${Array.from({ length: 101 }, (_, percent) => `${percent} %`).join('\r')}\n`);
await write(`${'x'.repeat(1_000_000)}\n`);
for (let line = 0; line < LINES; line += 1_000) await write(`${'flood '.repeat(16)}\n`.repeat(1_000));

let count = 0;
setInterval(() => {
  count += 1;
  stdout.write(`count ${count}\n`);
}, COUNT_MS);
