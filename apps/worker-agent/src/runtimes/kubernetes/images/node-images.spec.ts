import type { V1PodSpec } from '@kubernetes/client-node';
import { ManualClock, letRun } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FakeCluster } from '../../../../test/fake-cluster.js';
import { openOnCluster } from '../../../../test/open-on-cluster.js';
import type { PodObject, PodReport } from '../api/kube-objects.js';
import type { KubernetesRuntime } from '../kubernetes-runtime.js';

const NO_SUCH_PROGRAM: PodReport = {
  phase: 'Failed',
  containerStatuses: [{ state: { terminated: { exitCode: 128, reason: 'StartError', message: 'no such file' } } }],
};

let cluster: FakeCluster;
let runtime: KubernetesRuntime;
let made: PodObject[];

beforeEach(async () => {
  cluster = new FakeCluster();
  made = [];
  cluster.kubelet = (pod) => {
    made.push(pod);
    return NO_SUCH_PROGRAM;
  };
  runtime = await openOnCluster(cluster);
});
afterEach(() => runtime.close());

const specs = (): readonly V1PodSpec[] => made.map(({ spec }) => spec as unknown as V1PodSpec);

describe('the Pod that makes its node pull an image', () => {
  test('asks for a program that no image can have, because nobody knows its name before', async () => {
    await runtime.prepare({ image: 'r.io/a:1', credentials: null });
    await runtime.prepare({ image: 'r.io/b:1', credentials: null });
    const commands = specs().map(({ containers }) => containers[0]?.command ?? []);
    for (const command of commands) expect(command).toEqual([expect.stringMatching(/^\/\.berth-[0-9a-z]{24}$/)]);
    expect(new Set(commands.flat()).size).toBe(2);
  });

  test('has little, sees no card and no cluster, and ends, whatever runs in it', async () => {
    await runtime.prepare({ image: 'r.io/a:1', credentials: null });
    expect(specs()[0]).toMatchObject({
      ...{ automountServiceAccountToken: false, enableServiceLinks: false, restartPolicy: 'Never' },
      ...{ activeDeadlineSeconds: 3_660, securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
      containers: [
        {
          env: [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }],
          resources: {
            // A node that is full of workers takes it all the same.
            requests: { cpu: '0', memory: '0', 'ephemeral-storage': '0' },
            limits: { cpu: '500m', memory: '256Mi', 'ephemeral-storage': '64Mi' },
          },
          securityContext: { privileged: false, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    });
  });

  test('says to all who wait for it what its kubelet complains of', async () => {
    const clock = new ManualClock();
    const waiting = await openOnCluster(cluster, { clock });
    cluster.kubelet = () => undefined;
    cluster.warnings = () => [{ reason: 'FailedCreatePodSandBox', message: 'no network' }];
    const told: (string | null)[] = [];
    const [stopping, request] = [new AbortController(), { image: 'r.io/a:1', credentials: null }];
    const options = { signal: stopping.signal, onHeldUp: (reason: string | null) => told.push(reason) };
    const pulls = Promise.allSettled([waiting.prepare(request, options), waiting.prepare(request, options)]);
    await clock.advance(5_000);
    await letRun();
    expect(told).toEqual(Array(2).fill('its node has not begun with it: FailedCreatePodSandBox: no network'));
    stopping.abort();
    await pulls;
    await waiting.close();
  });

  test('is gone once it has ended', async () => {
    await runtime.prepare({ image: 'r.io/a:1', credentials: { username: 'u', password: 'p' } });
    expect([...cluster.all('pods'), ...cluster.all('secrets')]).toEqual([]);
  });
});
