import type { Environment } from '@berth/lifecycle';

/** What the command was started with; each command reads its own settings from it. */
export const loadEnvironment = (): Environment => process.env;
