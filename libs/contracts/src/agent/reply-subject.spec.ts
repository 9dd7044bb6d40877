import type { HostId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { replyFault } from './reply-subject.js';
import { inboxPrefix } from './subjects.js';

const INBOX = inboxPrefix('h1' as HostId);

describe('where a host wants its answer', () => {
  test.each([
    [`${INBOX}.JZ3C5TSWSRS2BMT1WU5OKM`, null],
    [`${INBOX}.JZ3C5TSWSRS2BMT1WU5OKM.1`, null],
    [undefined, 'none'],
    ['', 'none'],
    ['job.0.e.j', 'foreign'],
    ['$KV.endpoints.e', 'foreign'],
    [INBOX, 'foreign'],
    [`${INBOX}0.x`, 'foreign'],
    [inboxPrefix('h2' as HostId), 'foreign'],
    [` ${INBOX}.x`, 'foreign'],
    [`${INBOX}.`, 'malformed'],
    [`${INBOX}.a..b`, 'malformed'],
    [`${INBOX}.a.`, 'malformed'],
    [`${INBOX}.*`, 'malformed'],
    [`${INBOX}.>`, 'malformed'],
    [`${INBOX}.a b`, 'malformed'],
    [`${INBOX}.a\r\nPUB job.0.e.j 0`, 'malformed'],
    [`${INBOX}.${'x'.repeat(255)}`, 'malformed'],
  ])('%j: %s', (reply, fault) => {
    expect(replyFault(reply, INBOX)).toBe(fault);
  });

  test('is nowhere for a host that is named like a wildcard', () => {
    const inbox = inboxPrefix('*');
    expect(replyFault(`${inbox}.x`, inbox)).toBe('malformed');
  });
});
