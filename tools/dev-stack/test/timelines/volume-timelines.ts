import { expect, test } from '@jest/globals';
import type { Scenario } from './scenario.js';
import { onlyRelease, workersUp } from './scenes.js';
import { KEEPER, VCPUS } from './two-hosts.js';
import type { TwoHostsFixture } from './use-two-hosts.js';

/** Jobs until the other worker has had one too. */
const KEPT_MAX = 200;

interface Kept {
  readonly workerId: string;
  readonly output: { readonly lines: readonly string[] };
}

/** Two hosts that share a network volume. */
export function volumeTimelines(fixture: TwoHostsFixture): void {
  /** All lines that a keeper finds after it has added one, and which worker it is. */
  const keep = (scenario: Scenario, line: string): Promise<Kept> => scenario.runSync<Kept>({ keep: line });

  test('what a worker keeps in a volume, one on the other host finds, also after a release', async () => {
    const { body: made } = await fixture.hosts.operator.manage<{ readonly id: string }>('POST', '/v2/network-volumes', {
      ...{ name: 'shared', size: 10, dataCenter: 'LOCAL-1' },
    });
    const shared = await fixture.begin({
      ...{ title: 'a volume is shared by two hosts', name: 'volume', image: KEEPER, vcpus: VCPUS },
      workers: { min: 2, max: 2 },
      more: { networkVolumes: [made.id] },
    });
    await shared.until(workersUp(2));
    const first = await keep(shared, 'line 0');
    const kept = [first];
    while (kept.at(-1)?.workerId === first.workerId && kept.length < KEPT_MAX) {
      kept.push(await keep(shared, `line ${kept.length}`));
    }
    expect(kept.at(-1)?.workerId).not.toBe(first.workerId);
    expect(kept.at(-1)?.output.lines).toEqual(kept.map((_, index) => `line ${index}`));
    shared.note('a release');
    await shared.release({ VERSION: '2' });
    await shared.until(onlyRelease(2, 2));
    expect((await keep(shared, 'last')).output.lines.slice(0, -1)).toEqual(kept.at(-1)?.output.lines);
  });
}
