/** A dot begins the names of what editors and copying programs keep for a moment. */
const iamFile = /^[^.].*\.ya?ml$/;

/** Bytes of a file from which on it does not count. */
export const iamFileLimit = 5_000_000;

/** Whether a file of this name in a directory of JwtIssuers, Policies and Roles counts. */
export function isIamFile(name: string): boolean {
  return iamFile.test(name);
}
