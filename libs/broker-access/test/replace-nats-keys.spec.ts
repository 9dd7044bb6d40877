import { expect, test } from '@jest/globals';
import { renderNatsConf } from '../src/nats-conf.js';
import { createNatsKeys, NATS_ROLES, publicNatsKeys, type NatsPublicKeys } from '../src/nats-keys.js';
import { replaceNatsKeys } from '../src/replace-nats-keys.js';

const [OLD, NEW] = [createNatsKeys(), createNatsKeys()];
/** Each takes its time to be computed. */
const [ISSUED_OLD, ISSUED_NEW] = [publicNatsKeys(OLD), publicNatsKeys(NEW)];
const OTHER = `U${'A'.repeat(55)}`;

const render = (keys: NatsPublicKeys): string =>
  renderNatsConf({
    ...{ storeFolder: '/state', portsFolder: null, tls: null, fileStoreMaxBytes: 1, memoryStoreMaxBytes: 2 },
    listener: { host: '127.0.0.1', port: 4222 },
    monitor: { host: '127.0.0.1', port: 8222 },
    auth: { kind: 'roles', keys },
  });

const BOTH = publicNatsKeys(OLD, NEW.roles);
/** What a configuration has while roles, issuer or both are replaced. */
const STAGES: readonly NatsPublicKeys[] = [ISSUED_OLD, ISSUED_NEW].flatMap(({ issuer }) =>
  [ISSUED_OLD, BOTH, ISSUED_NEW].map((keys) => ({ ...keys, issuer })),
);
const TEXTS = STAGES.map(render);

test.each([...TEXTS.keys()])('what has its keys replaced is what would have been written with these (%d)', (from) => {
  for (const [to, keys] of STAGES.entries()) {
    expect(replaceNatsKeys(TEXTS[from] ?? '', STAGES, keys) === TEXTS[to]).toBe(true);
  }
});

test('what somebody has changed by hand stays as it is', () => {
  const byHand = (text = ''): string =>
    `# ours\n${text.replaceAll('subscribe: { allow: [', 'subscribe: { allow: [ "ours.$1", ')}debug: true\n`;
  for (const [to, keys] of STAGES.entries()) {
    expect(replaceNatsKeys(byHand(TEXTS[1]), STAGES, keys) === byHand(TEXTS[to])).toBe(true);
  }
});

test('a role or an issuer that is not known is left alone', () => {
  for (const role of NATS_ROLES) {
    const strange = { ...ISSUED_OLD, roles: { ...ISSUED_OLD.roles, [role]: [OTHER] } };
    expect(replaceNatsKeys(render(strange), STAGES, ISSUED_NEW)).toBeNull();
  }
  expect(replaceNatsKeys(render({ ...ISSUED_OLD, issuer: OTHER }), STAGES, ISSUED_NEW)).toBeNull();
});
