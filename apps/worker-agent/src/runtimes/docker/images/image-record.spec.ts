import { describe, expect, test } from '@jest/globals';
import { ACCEPTED_FOR_MS, imageAccess, withAccepted, type ImageUse } from './image-record.js';

const NOW_MS = 1_000_000_000;
const IMAGE = { digest: `sha256:${'a'.repeat(64)}`, repository: 'registry.example.com/team/worker' };
const user = (accountId: string, hasCredentials = true): ImageUse => ({ accountId, hasCredentials });

describe('an image that is here', () => {
  const ofAnna = withAccepted(null, { ...IMAGE, ...user('anna') }, NOW_MS);

  test('may be started by the account whose credentials brought it, and by no other unasked', () => {
    expect(imageAccess(ofAnna, user('anna'), NOW_MS)).toBe('allowed');
    expect(imageAccess(ofAnna, user('bert'), NOW_MS)).toBe('ask');
    expect(imageAccess(ofAnna, user('bert', false), NOW_MS)).toBe('ask');
    expect(imageAccess(ofAnna, { accountId: null, hasCredentials: true }, NOW_MS)).toBe('ask');
  });

  test('is asked for again after a day', () => {
    expect(imageAccess(ofAnna, user('anna'), NOW_MS + ACCEPTED_FOR_MS - 1)).toBe('allowed');
    expect(imageAccess(ofAnna, user('anna'), NOW_MS + ACCEPTED_FOR_MS)).toBe('ask');
  });

  test('is everybody’s once a registry gave it to somebody without credentials', () => {
    const open = withAccepted(ofAnna, { ...IMAGE, ...user('bert', false) }, NOW_MS);
    for (const who of ['anna', 'bert', 'carl']) expect(imageAccess(open, user(who), NOW_MS)).toBe('allowed');
  });

  test('belongs to all whom the registry has let in', () => {
    const ofBoth = withAccepted(ofAnna, { ...IMAGE, ...user('bert') }, NOW_MS + 1);
    expect(imageAccess(ofBoth, user('anna'), NOW_MS + 1)).toBe('allowed');
    expect(imageAccess(ofBoth, user('bert'), NOW_MS + 1)).toBe('allowed');
    expect(imageAccess(ofBoth, user('carl'), NOW_MS + 1)).toBe('ask');
  });

  test('that this agent did not pull is the operator’s, for all', () => {
    expect(imageAccess(null, user('anna'), NOW_MS)).toBe('unknown');
  });
});
