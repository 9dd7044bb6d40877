import { pythonWith } from '@berth/testing/python';

/** The Python interpreter with that version of the official SDK. */
export const sdkPython = (version: string): Promise<string> => pythonWith([`runpod==${version}`]);

/** Has each version's interpreter made, where it is not there yet: one by one, most of what they need is the same. */
export async function prepareSdks(versions: readonly string[]): Promise<void> {
  for (const version of versions) await sdkPython(version);
}
