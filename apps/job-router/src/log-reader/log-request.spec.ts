import { describe, expect, test } from '@jest/globals';
import { LogUsageError, readLogRequest } from './log-request.js';

const SHOW = {
  ...{ kind: 'show', endpointId: 'ep', jobId: null, after: 0 },
  ...{ isJson: false, isFollowing: false, hasPayloads: false },
};

describe('what is asked of a log', () => {
  test.each([
    [['ep'], SHOW],
    [['ep', '--job', 'j1', '--after', '12'], { ...SHOW, jobId: 'j1', after: 12 }],
    [['--after=#12', 'ep'], { ...SHOW, after: 12 }],
    [['ep', '--json', '--follow', '--payloads'], { ...SHOW, isJson: true, isFollowing: true, hasPayloads: true }],
    [['ep', '--check'], { kind: 'check', endpointId: 'ep', isJson: false }],
    [['ep', '--check', '--json'], { kind: 'check', endpointId: 'ep', isJson: true }],
    [['ep', '--skip', '#12'], { kind: 'skip', endpointId: 'ep', sequence: 12, isSure: false }],
    [['ep', '--skip', '12', '--yes'], { kind: 'skip', endpointId: 'ep', sequence: 12, isSure: true }],
    [['--help'], { kind: 'help' }],
    [['-h', 'ep'], { kind: 'help' }],
  ])('%j', (args, request) => {
    expect(readLogRequest(args)).toEqual(request);
  });

  test.each([
    [[], 'Which endpoint? Name its id.'],
    [['a', 'b'], 'One endpoint at a time: a, or b?'],
    [['a.b'], 'An endpoint’s id has letters, digits, "_" and "-" only.'],
    [['ep', '--unknown'], "Unknown option '--unknown'."],
    [['ep', '--job'], "Option '--job <value>' argument missing."],
    [['ep', '--after', 'x'], '--after must be the sequence of a batch, not "x".'],
    [['ep', '--after', '-1'], /^Option '--after' argument is ambiguous\.$/],
    [['ep', '--skip', '0'], '--skip must be the sequence of a batch, not "0".'],
    [['ep', '--skip', '1e3'], '--skip must be the sequence of a batch, not "1e3".'],
    [['ep', '--yes'], '--yes goes with --skip only.'],
    [['ep', '--skip', '1', '--yes', '--follow'], '--skip does not go with --follow.'],
    [['ep', '--check', '--job', 'j', '--payloads'], '--check does not go with --job --payloads.'],
  ])('%j makes no sense, and says why', (args, why) => {
    expect(() => readLogRequest(args)).toThrow(LogUsageError);
    expect(() => readLogRequest(args)).toThrow(why);
  });
});
