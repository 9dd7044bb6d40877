/** Every address of a name. Rejects where there is none, or nobody answers. */
export abstract class NameLookup {
  abstract addressesOf(name: string): Promise<readonly string[]>;
}
