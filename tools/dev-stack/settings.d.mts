/** A setting of `npm start`: its name, and what the process that reads it says of it. */
export interface StackSetting {
  readonly variable: string;
  readonly meaning: string;
  readonly values: string;
  readonly fallback: string | null;
}

export declare const SETTINGS: readonly StackSetting[];
export declare const SETTINGS_OF_LATER: readonly string[];
export declare const flagOf: (variable: string) => string;
export declare const asksForHelp: (args: readonly string[]) => boolean;
export declare const usage: () => string;
