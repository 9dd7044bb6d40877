/** A setting of `npm start`. */
export interface StackSetting {
  readonly variable: string;
  /** As people read it; the values that programs use are where each is read. */
  readonly fallback: string;
  readonly meaning: string;
  /** The process that reads it, where the launcher only hands it on. */
  readonly app?: 'management-api' | 'controllers' | 'job-router' | 'worker-agent';
}

export declare const SETTINGS: readonly StackSetting[];
export declare const SETTINGS_OF_LATER: readonly string[];
export declare const flagOf: (variable: string) => string;
export declare const asksForHelp: (args: readonly string[]) => boolean;
export declare const usage: () => string;
