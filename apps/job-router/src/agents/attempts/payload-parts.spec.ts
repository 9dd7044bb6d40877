import type { BlobManifest, JobId } from '@berth/domain';
import { BLOB_PART_BYTES } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AgentsScene, ENDPOINT, HOST } from '../../../test/model/agents-scene.js';
import { PayloadParts } from './payload-parts.js';

let scene: AgentsScene;
let parts: PayloadParts;

beforeEach(() => {
  scene = new AgentsScene();
  parts = new PayloadParts({ ...scene, owners: scene.attempts });
});

const BYTES = Buffer.alloc(BLOB_PART_BYTES + 3, 7);
const cancel = (jobId: JobId): void => {
  scene.owners.perform(ENDPOINT, { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId });
};

describe('an input that lies beside the log', () => {
  const store = (): Promise<BlobManifest> =>
    scene.blobs.write({ endpointId: ENDPOINT, jobId: 'j1' as JobId }, { name: 'in', bytes: BYTES }, 60_000);

  test('is fetched part by part by its holder', async () => {
    const ref = scene.take({ input: { kind: 'blob', manifest: await store() } });
    const fetched = await Promise.all([0, 1].map((part) => parts.download(HOST, { ...ref, part })));
    const bytes = Buffer.concat(fetched.map(({ base64 }) => Buffer.from(base64 ?? '', 'base64')));
    expect(bytes.equals(BYTES)).toBe(true);
  });

  test.each([
    ['another host', (): string => 'thief', true],
    ['whoever held it before its job was cancelled', (): string => HOST, false],
  ])('is not for %s', async (_, hostOf, isRunning) => {
    const ref = scene.take({ input: { kind: 'blob', manifest: await store() } });
    if (!isRunning) cancel(ref.jobId);
    expect(await parts.download(hostOf() as never, { ...ref, part: 0 })).toEqual({ base64: null });
  });

  test('has the parts that it has', async () => {
    const refused = { code: 'invalid-fields', message: '$.part: the input has no such part' };
    const ref = scene.take({ input: { kind: 'blob', manifest: await store() } });
    await expect(parts.download(HOST, { ...ref, part: 2 })).rejects.toMatchObject(refused);
    await expect(parts.download(HOST, { ...scene.take(), part: 0 })).rejects.toMatchObject(refused);
  });

  test('and has gone is told as gone', async () => {
    const manifest = { name: 'in', parts: 1, sizeBytes: 3, sha256: 'ab' };
    const ref = scene.take({ input: { kind: 'blob', manifest } });
    expect(await parts.download(HOST, { ...ref, part: 0 })).toEqual({ base64: null });
  });
});

describe('a part of an output', () => {
  const base64 = Buffer.from('part').toString('base64');

  test('is written under the name of its attempt, for as long as its job may live', async () => {
    const ref = scene.take();
    expect(await parts.upload(HOST, { ...ref, part: 1, base64 })).toEqual({ outcome: 'recorded' });
    expect(Buffer.from((await scene.blobs.readPart(ref, 'out1', 1)) ?? []).toString()).toBe('part');
    await scene.clock.advance(7 * 24 * 3_600_000);
    expect(await scene.blobs.readPart(ref, 'out1', 1)).not.toBeNull();
  });

  test('of an attempt that is over is not written', async () => {
    const ref = scene.take();
    cancel(ref.jobId);
    expect(await parts.upload(HOST, { ...ref, part: 0, base64 })).toEqual({ outcome: 'superseded' });
    expect(await scene.blobs.readPart(ref, 'out1', 0)).toBeNull();
  });

  test('above its limit is refused', async () => {
    const large = Buffer.alloc(BLOB_PART_BYTES + 1).toString('base64');
    await expect(parts.upload(HOST, { ...scene.take(), part: 0, base64: large })).rejects.toMatchObject({
      code: 'invalid-fields',
    });
  });
});
