import { expect, test } from '@jest/globals';
import { joinLines } from './host-lines.js';

const TOKEN = { hostId: 'host1', token: 'bjt_1', expiresAt: '2026-06-01T12:00:00Z' };
const HERE_ONLY = /reach this machine only/;

test.each(['tls://127.0.0.1:4222,tls://127.0.0.1:4223', 'nats://localhost:4222', 'nats://[::1]:4222'])(
  'says that another machine does not reach %s',
  (natsUrl) => expect(joinLines(TOKEN, natsUrl).join('\n')).toMatch(HERE_ONLY),
);

test.each(['tls://berth.example.com:4222,tls://localhost.example.com:4223', 'tls://10.1.27.1:4222', null])(
  'says no such thing of %s',
  (natsUrl) => expect(joinLines(TOKEN, natsUrl).join('\n')).not.toMatch(HERE_ONLY),
);
