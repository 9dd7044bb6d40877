import { noticeSubject, type NoticeMessage } from '@berth/contracts';
import type { EndpointId, JobId, UnreadableMessage } from '@berth/domain';
import { encodeNotice } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { expect, test } from '@jest/globals';
import { NatsJobNotices } from './nats-job-notices.js';

const nats = useNatsServer();

const notice: NoticeMessage = { endpointId: 'ep' as EndpointId, jobs: [{ jobId: 'job' as JobId, now: 'ended' }] };

test('what is told to this router is heard, what is told to others is not, and what cannot be read is noted', async () => {
  const [here, owner] = [await nats.connect(), await nats.connect()];
  const unreadable: UnreadableMessage[] = [];
  const heard: NoticeMessage[] = [];
  const noteUnreadable = (message: UnreadableMessage): void => void unreadable.push(message);
  const stop = new NatsJobNotices({ connection: here, noteUnreadable }, 'me').listen((told) => heard.push(told));
  await here.flush();
  owner.publish(noticeSubject('other'), encodeNotice(notice));
  owner.publish(noticeSubject('me'), 'what?');
  owner.publish(noticeSubject('me'), encodeNotice(notice));
  await eventually(() => expect(heard).toEqual([notice]));
  expect(unreadable).toEqual([{ place: 'notices', key: noticeSubject('me'), reason: 'it is no JSON' }]);
  stop();
  await here.flush();
  owner.publish(noticeSubject('me'), encodeNotice(notice));
  await owner.flush();
  await here.flush();
  expect(heard).toHaveLength(1);
});
