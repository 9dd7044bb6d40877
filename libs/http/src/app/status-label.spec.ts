import { expect, test } from '@jest/globals';
import { statusClass, statusLabel } from './status-label.js';

test.each([
  [200, '200'],
  [404, '404'],
  [503, '503'],
  [299, '2xx'],
  [477, '4xx'],
  [599, '5xx'],
  // What is no status of HTTP is an error to whoever reads it.
  [799, '5xx'],
  [99, '5xx'],
])('a status has a label of its own only where it is a registered one: %d', (status, label) => {
  expect(statusLabel(status)).toBe(label);
});

test.each([
  [101, '1xx'],
  [404, '4xx'],
  [799, '5xx'],
])('there are five classes: %d', (status, label) => {
  expect(statusClass(status)).toBe(label);
});
