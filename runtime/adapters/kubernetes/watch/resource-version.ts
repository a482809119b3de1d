const digits = /^[1-9]\d*$/;

/**
 * Compares two versions of one kind: negative when `a` is older, 0 when they are equal, undefined when the order cannot
 * be known. Kubernetes promises the order from 1.35 on, for versions that are whole numbers (KEP-5504); 1.34 and older
 * number theirs in the same way. Versions of other servers may have any form: those are only equal or not.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!digits.test(a) || !digits.test(b)) return undefined;
  // Numbers of any size: texts of equal length sort as the numbers do.
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `version` is known to be older than `than`, or is the same. */
export function isNotNewer(version: string, than: string): boolean {
  const order = compareResourceVersions(version, than);
  return order !== undefined && order <= 0;
}
