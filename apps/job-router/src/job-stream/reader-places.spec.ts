import { PlatformError, type EndpointId, type JobId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { ModelReaderCursors } from '@berth/testing/payloads';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ReaderCursors } from '@berth/payloads';
import { ReaderPlaces } from './reader-places.js';
import { STREAM_START } from './stream-cursor.js';

const READER = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId, keyId: 'a' };
const at = (attempt: number, index: number) => ({ attempt, index });

let cursors: ModelReaderCursors;
let near: ReaderPlaces;
let far: ReaderPlaces;

beforeEach(() => {
  cursors = new ModelReaderCursors(new ManualClock());
  near = new ReaderPlaces(cursors, silentLogger);
  far = new ReaderPlaces(cursors, silentLogger);
});

describe('the places of readers without a cursor', () => {
  test('begin at the start, and belong to one key', async () => {
    await near.advance(READER, await near.find(READER), at(1, 5));
    expect((await near.find(READER)).cursor).toEqual(at(1, 5));
    expect((await near.find({ ...READER, keyId: 'b' })).cursor).toEqual(STREAM_START);
  });

  test('are the same at every router', async () => {
    for (const [index, router] of [near, far, near, far].entries()) {
      const place = await router.find(READER);
      expect(place.cursor.index).toBe(index);
      await router.advance(READER, place, at(1, index + 1));
    }
  });

  test('move forward only, whichever of two reads at one time ends first', async () => {
    const [slow, quick] = [await near.find(READER), await far.find(READER)];
    await far.advance(READER, quick, at(1, 5));
    await near.advance(READER, slow, at(1, 3));
    expect((await near.find(READER)).cursor).toEqual(at(1, 5));
    await near.advance(READER, slow, at(2, 1));
    expect((await far.find(READER)).cursor).toEqual(at(2, 1));
  });

  test('are known to the router that moved them last when the broker has forgotten', async () => {
    await near.advance(READER, await near.find(READER), at(1, 5));
    cursors.restart();
    const place = await near.find(READER);
    expect(place).toEqual({ cursor: at(1, 5), sequence: 0 });
    await near.advance(READER, place, at(1, 6));
    expect((await far.find(READER)).cursor).toEqual(at(1, 6));
  });

  test('that cannot be kept fail no read', async () => {
    const silent: ReaderCursors = {
      read: (reader) => cursors.read(reader),
      write: () => Promise.reject(new PlatformError('service-unavailable', 'away')),
    };
    const places = new ReaderPlaces(silent, silentLogger);
    await places.advance(READER, await places.find(READER), at(1, 2));
    expect((await places.find(READER)).cursor).toEqual(at(1, 2));
  });
});
