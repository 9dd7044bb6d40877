#!/usr/bin/env node
/** Succeeds where `prepare.mjs` can; otherwise prints the reason and fails. */
import { whyUnavailable } from './previous.mjs';

const reason = whyUnavailable();
if (reason !== null) {
  console.log(reason);
  process.exitCode = 1;
}
