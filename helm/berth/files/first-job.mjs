/**
 * Runs one job through an installation, as a caller does: makes an endpoint, runs a job on it, deletes the endpoint.
 * Ends with 0 where the worker's output is what was sent.
 */
const { BERTH_API_KEY: key, BERTH_BASE_URL: base, BERTH_RUN_URL: run, BERTH_TEST_IMAGE: image } = process.env;
const deadline = AbortSignal.timeout(Number(process.env.BERTH_TEST_DEADLINE_MS));
const CALL_MS = 30_000;
const PAUSE_MS = 1_000;
const ENDED = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'];
const MESSAGE = 'ahoy';

async function call(method, url, body, signal = deadline) {
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(CALL_MS)]),
  });
  const text = await answer.text();
  if (!answer.ok)
    throw Object.assign(new Error(`${method} ${url}: ${answer.status} ${text}`), { status: answer.status });
  return text === '' ? null : JSON.parse(text);
}

const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));

/** A question may be asked again: what starts or is busy says so by a status above 500. */
async function ask(url) {
  for (;;) {
    try {
      return await call('GET', url);
    } catch (error) {
      if (deadline.aborted || !(error.status > 500)) throw error;
      console.log(error.message);
      await pause();
    }
  }
}

/** Why the job waits, as its router last told. */
let waits = '';

function tell({ id, queue, status }) {
  const now = status === 'IN_QUEUE' ? (queue?.detail ?? '') : '';
  console.log(`job ${id}: ${status}${now === '' ? '' : `: ${now}`}`);
  waits = now;
}

async function runJob(endpointId) {
  const path = `${run}/v2/${endpointId}`;
  let job = await call('POST', `${path}/run`, { input: { message: MESSAGE } });
  tell(job);
  while (!ENDED.includes(job.status)) {
    await pause();
    const next = await ask(`${path}/status/${job.id}`);
    if (next.status !== job.status || (next.queue?.detail ?? '') !== waits) tell(next);
    job = next;
  }
  const output = JSON.stringify(job.output);
  console.log(`output: ${output}`);
  if (job.status !== 'COMPLETED' || !output?.includes(MESSAGE)) throw new Error(`It should have come back: ${MESSAGE}`);
}

try {
  const endpoint = await call('POST', `${base}/v2/serverless`, {
    name: 'helm-test',
    type: 'QUEUE',
    image,
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 0, max: 1 },
  });
  console.log(`endpoint ${endpoint.id}`);
  try {
    await runJob(endpoint.id);
  } finally {
    // Also when time is up: what the test made must not stay.
    await call('DELETE', `${base}/v2/serverless/${endpoint.id}`, undefined, AbortSignal.timeout(CALL_MS));
  }
} catch (error) {
  const late = `The job did not end in time. ${waits === '' ? 'Is there a host?' : `It waits: ${waits}`}`;
  console.error(error.name === 'TimeoutError' ? late : error.message);
  process.exitCode = 1;
}
