/** What this machine tells its programs; read once, here and nowhere else in this package. */
export interface MachineEnvironment {
  /** Folders searched for programs. */
  readonly pathFolders: readonly string[];
  /** Every variable, to hand on to child processes. */
  readonly variables: Readonly<Record<string, string>>;
}

const definedOnly = (variables: NodeJS.ProcessEnv): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined));

const readMachineEnvironment = (variables: NodeJS.ProcessEnv): MachineEnvironment =>
  Object.freeze({
    pathFolders: (variables['PATH'] ?? '').split(':').filter((folder) => folder !== ''),
    variables: Object.freeze(definedOnly(variables)),
  });

export const machineEnvironment = readMachineEnvironment(process.env);
