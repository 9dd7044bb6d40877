import { eventually } from '@berth/testing';
import { afterEach, expect, test } from '@jest/globals';
import { LogReader } from '../log-reader.js';
import { workersUp } from './scenes.js';
import { TALKER, WITHIN_MS } from './two-hosts.js';
import type { TwoHostsFixture } from './use-two-hosts.js';

const WAIT = { deadlineMs: WITHIN_MS, intervalMs: 100 };
/** Lines before and after what is done to the agent. */
const LINES = 100;

/** What a worker prints, as its tenant reads it. */
export function logTimelines(fixture: TwoHostsFixture): void {
  const readers: LogReader[] = [];
  afterEach(() => {
    for (const reader of readers.splice(0)) reader.leave();
  });
  const containerOf = async (workerId: string): Promise<string> =>
    (await fixture.hosts.docker('ps', '--quiet', '--no-trunc', '--filter', `label=berth.worker=${workerId}`)).stdout;

  test('the log of a worker has each line once while its agent is killed and comes again', async () => {
    const talk = await fixture.begin({
      ...{ title: 'an agent is killed while the log of its worker is read', name: 'talk', image: TALKER },
      workers: { min: 1, max: 1 },
    });
    await talk.until(workersUp(1));
    const [worker] = talk.timeline.last.workers;
    if (worker === undefined) throw new Error('there is no worker');
    const path = `/v2/serverless/${talk.endpointId}/workers/${worker.id}/logs?tail=5000`;
    const reader = new LogReader(fixture.hosts.stack.dev, path);
    readers.push(reader);
    await eventually(() => expect(reader.counts.length).toBeGreaterThan(LINES), WAIT);
    const container = await containerOf(worker.id);
    talk.note(`${reader.counts.length} lines are read, and the agent is killed`);
    await fixture.hosts.killAgent(fixture.hosts.hostOf(worker.hostId));
    const before = reader.counts.length;
    talk.note(`${before} lines are read, the next agent is there, and the reader comes again`);
    reader.hangUp();
    await eventually(() => expect(reader.counts.length).toBeGreaterThan(before + LINES), WAIT);
    talk.note(`${reader.counts.length} lines are read`);
    const { counts, opened } = reader;
    expect(counts).toEqual(counts.map((_, index) => index + 1));
    expect(opened).toBeGreaterThan(1);

    expect(await talk.runSync({ a: 1 })).toMatchObject({ status: 'COMPLETED', workerId: worker.id });
    await eventually(() => expect(reader.of('container').join('\n')).toContain('work on {"a":1}'), WAIT);
    expect(await containerOf(worker.id)).toBe(container);
  });
}
