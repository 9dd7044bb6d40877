import { describe, expect, test } from '@jest/globals';
import { completePlan, problemsOf, type GivenPlan } from './installation-plan.js';

const problems = (given: GivenPlan): readonly string[] => problemsOf(completePlan(given, '/srv/berth'));

const UNQUOTABLE =
  'has one of " \' ` $ \\ # ; | < > ( ), which env files and shells do not read as it is; an address has it as % and two digits in hex';

describe('the plan of an installation', () => {
  test('may give agents one name for all brokers, which ports tell apart', () => {
    const brokerHost = ['broker-1,x', 'broker-2,x', 'broker-3,x'];
    expect(problems({ brokers: 3, brokerHost })).toEqual([]);
    expect(problems({ databaseUrl: 'postgres://a:b%24c@d/e?sslmode=verify-full&connect_timeout=5' })).toEqual([]);
  });

  test('needs nothing said, with any number of brokers', () => {
    expect(problems({})).toEqual([]);
    expect(completePlan({ brokers: 3 }, '/srv/berth')).toMatchObject({
      brokerHost: ['broker-1', 'broker-2', 'broker-3'],
      seenAt: '/srv/berth',
    });
    expect(problems({ brokers: 3 })).toEqual([]);
  });

  test.each<[GivenPlan, string]>([
    [{ brokers: 3, brokerHost: ['a'] }, '--broker-host is needed once for each of 3, not 1 times'],
    [{ brokerHost: ['a,a'] }, '--broker-host names a broker twice'],
    [{ brokers: 3, brokerHost: ['a', 'b', 'a'] }, '--broker-host names a broker twice'],
    [{ brokerHost: ['a b'] }, '--broker-host: "a b" is no name and no address'],
    [{ brokerHost: ['a,'] }, '--broker-host: "" is no name and no address'],
    [{ brokerPort: 0 }, '--broker-port must be a port, 1 to 65535'],
    [{ brokerPort: Number.NaN, monitorPort: 1 }, '--broker-port must be a port, 1 to 65535'],
    [{ peerPort: 4222 }, '--broker-port, --peer-port and --monitor-port must be three different ports'],
    [{ storageGib: 0.5 }, '--storage-gib must be a whole number from 1 to 6144'],
    [{ databaseUrl: 'mysql://a' }, '--database-url must be a URL that starts with postgres:// or postgresql://'],
    [
      { databaseUrl: 'postgres://a\nBERTH_X=1' },
      '--database-url must be a URL that starts with postgres:// or postgresql://',
    ],
    [{ databaseUrl: 'postgres://a:b$c@d/e' }, `--database-url ${UNQUOTABLE}`],
    [{ databaseUrl: "postgres://a:b'c@d/e" }, `--database-url ${UNQUOTABLE}`],
    [{ baseUrl: 'https://berth.example.com/#api' }, `--base-url ${UNQUOTABLE}`],
    [{ seenAt: '/etc/$berth' }, `--seen-at ${UNQUOTABLE}`],
    [{ baseUrl: 'berth.example.com' }, '--base-url must be a URL that starts with http:// or https://'],
    [{ lbDomain: 'http://x' }, '--lb-domain must be a domain, with or without a port'],
    [{ seenAt: 'etc/berth' }, '--seen-at must be an absolute path without spaces'],
    [{ listen: '0.0.0.0 ' }, '--listen must be an address or a name'],
  ])('%j is refused by name', (given, problem) => {
    expect(problems(given)).toEqual([problem]);
  });
});
