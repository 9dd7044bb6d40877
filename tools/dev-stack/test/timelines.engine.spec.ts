import { useContainerEngine } from '@berth/testing/containers';
import { describe, jest } from '@jest/globals';
import { crashTimelines } from './timelines/crash-timelines.js';
import { hostTimelines } from './timelines/host-timelines.js';
import { imageTimelines } from './timelines/image-timelines.js';
import { loadTimelines } from './timelines/load-timelines.js';
import { logTimelines } from './timelines/log-timelines.js';
import { useTwoHosts } from './timelines/use-two-hosts.js';
import { volumeTimelines } from './timelines/volume-timelines.js';

jest.setTimeout(300_000);
const engine = useContainerEngine({ hasBaseImage: true });

// Nested, so that the stack is stopped before its engine, on failure too.
describe('timelines of containers on two hosts', () => {
  const fixture = useTwoHosts(engine);
  describe('of load', () => loadTimelines(fixture));
  describe('of crashes', () => crashTimelines(fixture));
  describe('of hosts', () => hostTimelines(fixture));
  describe('of a private image', () => imageTimelines(fixture));
  describe('of a log', () => logTimelines(fixture));
  describe('of a volume', () => volumeTimelines(fixture));
});
