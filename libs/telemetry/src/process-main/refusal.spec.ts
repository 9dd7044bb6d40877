import { describe, expect, test } from '@jest/globals';
import { ConfigError } from '@berth/lifecycle';
import { findRefusal, refusalText } from './refusal.js';
import { listenError } from './startup-error.js';

const LINE = '{"level":30,"msg":"stopped"}';

describe('who started a process finds out why it would not start', () => {
  test('from the sentence among its log lines, all of it', () => {
    const text = refusalText('job-router', new ConfigError(['BERTH_X is missing', 'BERTH_Y must be on']));
    expect(findRefusal(`${LINE}\n${text}${LINE}\n`, 'job-router')).toEqual({
      text: 'job-router: Bad settings:\n  BERTH_X is missing\n  BERTH_Y must be on',
      mayPass: false,
    });
  });

  test('and that a port which somebody else has may be free in a moment', () => {
    const error = listenError({ code: 'EADDRINUSE' }, { host: '127.0.0.1', port: 8001, variable: 'BERTH_HTTP_PORT' });
    expect(findRefusal(refusalText('job-router', error), 'job-router')).toMatchObject({ mayPass: true });
  });

  test('but a crash is no refusal', () => {
    const crash = `${LINE}\nfile:///main.js:1\nTypeError: job-router: x is not a function\n    at main.js:1:1\n`;
    expect(findRefusal(crash, 'job-router')).toBeNull();
    expect(findRefusal('', 'job-router')).toBeNull();
  });
});
