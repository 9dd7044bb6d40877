import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import type { OwnedContainer } from '../container-runtime.port.js';
import { EventReader } from './event-reader.js';
import { RunningContainers } from './running-containers.js';

const labels = {
  ...{ hostId: 'h' as HostId, workerId: 'w' as WorkerId, endpointId: 'e' as EndpointId },
  ...{ release: 1, image: 'local/echo' },
};
const running = (containerId: string): OwnedContainer => ({
  ...{ containerId, labels, startedAtMs: 1, state: { kind: 'running' } },
});
const listed = (Id: string, State = 'running') => ({ Id, State });

describe('containers that run', () => {
  test('are known until the list says something else', () => {
    const known = new RunningContainers();
    expect(known.find(listed('a'))).toBeUndefined();
    known.keep([running('a'), running('b')]);
    expect(known.find(listed('a'))).toEqual(running('a'));
    expect(known.find(listed('a', 'exited'))).toBeUndefined();
    known.keep([running('b')]);
    expect(known.find(listed('a'))).toBeUndefined();
  });

  test('are looked at once their end is told, whatever the list says', () => {
    const known = new RunningContainers();
    known.keep([running('a'), running('b')]);
    known.noteEnd('a');
    expect(known.find(listed('a'))).toBeUndefined();
    expect(known.find(listed('b'))).toEqual(running('b'));
  });

  test('are not known again by a list that was asked for before their end', () => {
    const known = new RunningContainers();
    known.noteEnd('a');
    known.keep([running('a')]);
    expect(known.find(listed('a'))).toBeUndefined();
  });
});

describe('events of an engine', () => {
  const event = (Action: string, ID: string): string =>
    `${JSON.stringify({ Type: 'container', Action, Actor: { ID } })}\n`;

  test('tell which containers have ended, wherever they are cut', () => {
    const bytes = Buffer.from(`${event('start', 'a')}${event('die', 'b')}${event('die', 'ç')}`);
    for (let at = 0; at <= bytes.length; at += 1) {
      const reader = new EventReader();
      const ends = [bytes.subarray(0, at), bytes.subarray(at)].flatMap((part) => reader.endsIn(part));
      expect(ends).toEqual(['b', 'ç']);
    }
  });

  test.each([
    ['no JSON'],
    ['null'],
    ['{"Action":"die"}'],
    ['{"Action":"die","Actor":{"ID":7}}'],
    ['x'.repeat(100_000)],
  ])('that cannot be understood tell nothing, and those after them are read', (text) => {
    const reader = new EventReader();
    expect(reader.endsIn(Buffer.from(text))).toEqual([]);
    expect(reader.endsIn(Buffer.from(`\n${event('die', 'b')}`))).toEqual(['b']);
  });
});
