import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { WantedImage } from '@berth/contracts';
import type { AccountId, EndpointId, Inventory, ObservedWorker } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { RuntimeError, type ImageRequest, type PrepareOptions } from '../runtimes/index.js';
import { ImagesAhead } from './images-ahead.js';

const wanted = (release: number, more: Partial<WantedImage> = {}): WantedImage => ({
  ...{ endpointId: 'e' as EndpointId, accountId: 'a' as AccountId, release, image: `acme/worker:${release}` },
  ...more,
});

const INVENTORY: Inventory = {
  ...{ vcpus: 8, isOvercommitted: false, memoryBytes: 1, diskBytes: 1, gpus: [], areGpusSimulated: false },
  ...{ cudaVersion: null, runtime: 'docker', images: ['here:1'] },
};

/** A registry that answers when the test says so. */
class Pulls {
  readonly begun: ImageRequest[] = [];
  readonly aborted: string[] = [];
  #end: PromiseWithResolvers<undefined> = Promise.withResolvers();

  async prepare(request: ImageRequest, { signal }: PrepareOptions = {}): Promise<void> {
    this.begun.push(request);
    const end = Promise.withResolvers<undefined>();
    this.#end = end;
    signal?.addEventListener('abort', () => {
      this.aborted.push(request.image);
      end.reject(new RuntimeError('cancelled', 'given up'));
    });
    await end.promise;
  }

  done(): void {
    this.#end.resolve(undefined);
  }

  fail(): void {
    this.#end.reject(new RuntimeError('image-unreachable', 'no answer'));
  }
}

let clock: ManualClock;
let pulls: Pulls;
let pulling: boolean;
let ahead: ImagesAhead;
let changes: number;

beforeEach(() => {
  clock = new ManualClock();
  pulls = new Pulls();
  pulling = false;
  changes = 0;
  const preparing = { imagePercent: 10 } as unknown as ObservedWorker;
  const workers = { observed: () => (pulling ? [preparing] : []), subscribe: () => () => undefined };
  ahead = new ImagesAhead({ runtime: pulls, workers, clock, logger: silentLogger });
  ahead.subscribe(() => {
    changes += 1;
  });
  ahead.start();
});

afterEach(() => ahead.stop());

const told = (): readonly string[] =>
  (ahead.toldIn(INVENTORY).imagesAhead ?? []).map(({ reason, release, state }) =>
    `${release} ${state} ${reason}`.trim(),
  );

const begun = (): readonly string[] => pulls.begun.map(({ image }) => image);

describe('images that are wanted ahead', () => {
  test('are prepared one after the other, with whose they are and what they stand for', async () => {
    const credentials = { username: 'u', password: 'p' };
    ahead.setWanted([wanted(1, { registryCredentials: credentials, imageDigest: 'sha256:1' }), wanted(2)]);
    await clock.advance(1_000);
    expect(pulls.begun).toEqual([{ image: 'acme/worker:1', accountId: 'a', credentials, digest: 'sha256:1' }]);
    expect(told()).toEqual(['1 pending', '2 pending']);
    pulls.done();
    await clock.advance(1_000);
    expect(begun()).toEqual(['acme/worker:1', 'acme/worker:2']);
    expect(told()).toEqual(['1 ready', '2 pending']);
    expect(ahead.toldIn(INVENTORY).images).toEqual(['here:1', 'acme/worker:1']);
    expect(changes).toBe(2);
  });

  test('give way to a worker that waits for its own, which counts as no try', async () => {
    ahead.setWanted([wanted(1)]);
    await clock.advance(1_000);
    pulling = true;
    await clock.advance(1_000);
    expect(pulls.aborted).toEqual(['acme/worker:1']);
    await clock.advance(60_000);
    expect(begun()).toHaveLength(1);
    pulling = false;
    await clock.advance(1_000);
    expect(begun()).toHaveLength(2);
    expect(told()).toEqual(['1 pending']);
  });

  test('are given up after three tries, with the reason', async () => {
    ahead.setWanted([wanted(1)]);
    for (const waitMs of [1_000, 6_000, 31_000]) {
      await clock.advance(waitMs);
      pulls.fail();
      await clock.advance(1_000);
    }
    expect(begun()).toHaveLength(3);
    expect(told()).toEqual(['1 failed image-unreachable: no answer']);
    await clock.advance(3_600_000);
    expect(begun()).toHaveLength(3);
  });

  test('that are wanted no longer are not pulled to their end', async () => {
    ahead.setWanted([wanted(1)]);
    await clock.advance(1_000);
    ahead.setWanted([]);
    await clock.advance(1_000);
    expect(pulls.aborted).toEqual(['acme/worker:1']);
    expect(told()).toEqual([]);
  });
});
