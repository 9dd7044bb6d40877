import { noticeSubject, type NoticeMessage } from '@berth/contracts';
import { readNotice } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { expect, test } from '@jest/globals';
import { NatsWatcherNotices } from './nats-watcher-notices.js';

const nats = useNatsServer();
const notice: NoticeMessage = { endpointId: 'ep' as never, jobs: [{ jobId: 'j' as never, now: 'moved' }] };

test('a notice reaches the routers that are named, and this one without the broker', async () => {
  const [connection, other] = [await nats.connect(), await nats.connect()];
  const heard: unknown[] = [];
  const subscription = other.subscribe('notice.>', {
    callback: (_, { data, subject }) => {
      heard.push([subject, readNotice(data)]);
    },
  });
  await other.flush();
  const own: NoticeMessage[] = [];
  const tellOwn = (told: NoticeMessage): void => {
    own.push(told);
  };
  const notices = new NatsWatcherNotices({ connection, incarnation: 'me', tellOwn, logger: silentLogger });
  notices.tell(['me', 'you'], notice);
  expect(own).toEqual([notice]);
  notices.tell(['he'], notice);
  await eventually(() => {
    expect(heard).toEqual(['you', 'he'].map((router) => [noticeSubject(router), { kind: 'value', value: notice }]));
  });
  expect(own).toHaveLength(1);
  subscription.unsubscribe();
  await connection.close();
  expect(() => notices.tell(['you'], notice)).not.toThrow();
});
