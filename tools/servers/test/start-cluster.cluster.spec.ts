import { cp, mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeTempFolder, startCluster, type Cluster, type TempFolder } from '../src/index.js';

const START_MS = 30 * 60_000;
const STOP_MS = 240_000;
let folder: TempFolder;
let cluster: Cluster;

beforeAll(async () => {
  folder = await makeTempFolder('berth-cluster');
  cluster = await startCluster({ folder: folder.path });
}, START_MS);
afterAll(async () => {
  await cluster.stop();
  await folder.remove();
}, STOP_MS);

/** A file system of one program. */
async function makeRoot(): Promise<string> {
  const root = join(folder.path, 'root');
  await mkdir(join(root, 'bin'), { recursive: true });
  await cp('/bin/busybox', join(root, 'bin', 'busybox'));
  await symlink('busybox', join(root, 'bin', 'sh'));
  return root;
}

test(
  'a Pod of an image that no registry has runs to its end, and of a cluster that is stopped nothing is left',
  async () => {
    await cluster.makeImage('local/hello:1', await makeRoot(), { Entrypoint: ['/bin/sh', '-c'] });
    const pod = ['run', 'hello', '--image=local/hello:1', '--restart=Never', '--image-pull-policy=Never'];
    await cluster.kubectl(...pod, '--', 'echo "from a Pod"');
    await cluster.kubectl('wait', '--for=jsonpath={.status.phase}=Succeeded', 'pod/hello', '--timeout=60s');
    expect(await cluster.kubectl('logs', 'hello')).toBe('from a Pod\n');
    await cluster.stop();
    expect(await readdir(folder.path)).not.toContain('cluster');
    expect(await readdir('/run/netns')).not.toContain('kube');
    expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(folder.path);
  },
  STOP_MS,
);
