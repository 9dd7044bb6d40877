import type { WindowState } from '@berth/domain';

/** The two header fields that tell a caller what is left and what there is (wire contract 5.5). */
export const rateLimitHeaders = (windows: readonly WindowState[]): Readonly<Record<string, string>> => ({
  ratelimit: list(windows, ({ remaining, resetSeconds }) => `r=${remaining};t=${resetSeconds}`),
  'ratelimit-policy': list(windows, ({ quota, seconds }) => `q=${quota};w=${seconds}`),
});

const list = (windows: readonly WindowState[], parametersOf: (window: WindowState) => string): string =>
  windows.map((window) => `"${window.name}";${parametersOf(window)}`).join(', ');
