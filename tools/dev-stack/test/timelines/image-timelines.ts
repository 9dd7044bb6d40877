import { join } from 'node:path';
import { ImageRegistry, saveImage } from '@berth/testing/containers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TenantClient } from '../../src/tenant-client.js';
import { everyJobDone, workersUp } from './scenes.js';
import { NODE_ECHO } from './two-hosts.js';
import type { TwoHostsFixture } from './use-two-hosts.js';

const LOGIN = { username: 'ci-puller', password: 'correct horse' };
const BUILT = 'local/private:latest';
const ONE = { min: 1, max: 1 };

/** An image of one account, on a host that another one's workers come to. */
export function imageTimelines(fixture: TwoHostsFixture): void {
  const registry = new ImageRegistry(LOGIN);
  let image = '';

  beforeAll(async () => {
    const { engine } = fixture.hosts;
    await engine.buildImage(BUILT, join(import.meta.dirname, 'private-image'), { BASE: NODE_ECHO });
    await registry.start();
    image = registry.serve('team/private', '1', await saveImage(engine, BUILT));
  });
  afterAll(() => registry.stop());

  /** The endpoint's field for an account that has the credentials. */
  const accessOf = async (client: TenantClient): Promise<{ readonly registry: string }> => {
    const { body } = await client.manage<{ readonly id: string }>('POST', '/v2/registries', { name: 'ours', ...LOGIN });
    return { registry: body.id };
  };

  test('a private image that one account has brought to a host is refused to another, until it has access itself', async () => {
    const { hosts } = fixture;
    const stranger = await hosts.newAccount('stranger');
    const owned = await fixture.begin({
      ...{ title: 'a private image runs for its account', name: 'owned', image, workers: ONE },
      more: await accessOf(hosts.operator),
    });
    await owned.until(workersUp(1));
    const { hostId } = owned.timeline.last.workers[0] ?? {};
    const ids = await owned.submit(1, 0);
    await owned.until(everyJobDone(ids));

    const wanted = await fixture.begin(
      { title: 'and is refused to another account', name: 'wanted', image, workers: ONE },
      stranger,
    );
    const waiting = await wanted.submit(1, 0);
    await wanted.until({
      what: 'a worker on the same host that may not have the image, and says so',
      is: ({ queued, workers }) =>
        queued === waiting.length &&
        workers.some((worker) => worker.hostId === hostId && worker.reason.includes('image-denied')),
    });
    const [refused] = wanted.timeline.last.workers;
    expect(refused?.reason).toMatch(/image-denied: Image \S+\/team\/private@sha256:\S+ could not be pulled: .*auth/);
    wanted.note(`its worker says: ${refused?.reason ?? ''}`);
    const again = await owned.submit(1, 0);
    await owned.until(workersUp(1), everyJobDone([...ids, ...again]));
    const { stdout } = await hosts.docker(
      'ps',
      '--all',
      '--quiet',
      '--filter',
      `label=berth.endpoint=${wanted.endpointId}`,
    );
    expect(stdout).toBe('');

    wanted.note('its account gets access');
    await wanted.change(await accessOf(stranger));
    await wanted.until(everyJobDone(waiting));
    await wanted.allCompleted(waiting);
  });
}
