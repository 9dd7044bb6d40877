// Puts the published JavaScript client through its operations, unmodified, and prints what each did as one line of JSON.
import runpodSdk from 'runpod-sdk';

const [, , baseUrl, apiKey, echoId, streamId] = process.argv;
const sdk = runpodSdk(apiKey, { baseUrl });
const echo = sdk.endpoint(echoId);
const seen = {};

const until = async (id, wanted) => {
  for (let looks = 0; looks < 600; looks += 1) {
    const { status } = await echo.status(id);
    if (status === wanted) return status;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return `never ${wanted}`;
};

const chunksOf = async (stream) => {
  const chunks = [];
  for await (const { output } of stream) chunks.push(output);
  return chunks;
};

const started = await echo.run({ input: { message: 'ahoy' } });
seen.run = { accepted: started.status, ended: await until(started.id, 'COMPLETED') };
const done = await echo.status(started.id);
seen.status = { output: done.output, completed: done.completed, succeeded: done.succeeded };
const synced = await echo.runSync({ input: { message: 'in sync' } });
seen.runSync = { status: synced.status, output: synced.output };
const failed = await echo.runSync({ input: { error: 'wanted' } });
seen.failure = { status: failed.status, error: failed.error };
const streaming = await sdk.endpoint(streamId).run({ input: { chunks: 3 } });
seen.stream = await chunksOf(sdk.endpoint(streamId).stream(streaming.id));
const slow = await echo.run({ input: { sleep: 60 } });
await until(slow.id, 'IN_PROGRESS');
await echo.cancel(slow.id);
seen.cancel = await until(slow.id, 'CANCELLED');
seen.purgeQueue = Object.keys(await echo.purgeQueue()).sort();
seen.health = Object.keys((await echo.health()).workers).sort();
process.stdout.write(`${JSON.stringify(seen)}\n`);
