// A hostile worker: answers each job with a body of the kind and size that its input names.

const env = process.env;
const id = env.RUNPOD_POD_ID;
const takeUrl = env.RUNPOD_WEBHOOK_GET_JOB.replace('$ID', id);
const doneUrl = env.RUNPOD_WEBHOOK_POST_OUTPUT.replace('$RUNPOD_POD_ID', id);
const streamUrl = env.RUNPOD_WEBHOOK_POST_STREAM.replace('$RUNPOD_POD_ID', id);
const pingUrl = env.RUNPOD_WEBHOOK_PING.replace('$RUNPOD_POD_ID', id);
const headers = { authorization: env.RUNPOD_AI_API_KEY };
const SLOTS = 2;
const PING_MS = 5_000;

/** What stands around the filling, and one unit of it. */
const KINDS = {
  objects: ['{"output":1,"junk":[', '{},', '{}]}'],
  numbers: ['{"output":1,"junk":[', 'NaN,', '0]}'],
  members: ['{"output":1', ',"a":1', '}'],
  depth: ['{"output":1,"junk":', '[', '}'],
  output: ['{"output":[', '{},', '{}]}'],
  escapes: ['{"output":"', '\\u0000', '"}'],
  bytes: ['{"output":"', '\xff\xfe', '"}'],
};

function bodyOf(kind, bytes) {
  const [before, unit, after] = KINDS[kind].map((text) => Buffer.from(text, 'latin1'));
  const count = Math.max(0, Math.floor((bytes - before.length - after.length) / unit.length));
  return Buffer.concat([before, Buffer.alloc(count * unit.length, unit), after]);
}

const post = async (template, jobId, body) => {
  const response = await fetch(`${template.replace('$ID', jobId)}&isStream=false`, { method: 'POST', headers, body });
  await response.arrayBuffer();
};

async function serve() {
  for (;;) {
    const response = await fetch(`${takeUrl}&job_in_progress=1`, { headers });
    if (response.status !== 200) {
      await response.arrayBuffer();
      continue;
    }
    const { id: jobId, input } = await response.json();
    const body = bodyOf(input.kind, input.bytes);
    if (!input.isStream) await post(doneUrl, jobId, body);
    else {
      await post(streamUrl, jobId, body);
      await post(doneUrl, jobId, '{"output":[]}');
    }
  }
}

setInterval(() => void fetch(pingUrl, { headers }).catch(() => undefined), PING_MS);
await Promise.all(Array.from({ length: SLOTS }, serve));
