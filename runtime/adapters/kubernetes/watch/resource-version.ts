const digits = /^[1-9]\d*$/;

/**
 * Which of two versions of one kind is older: negative when `a` is, 0 when they are the same, undefined when that cannot
 * be known. Kubernetes promises the order from 1.35 on, for versions that are whole numbers (KEP-5504), and 1.34 and
 * older servers number theirs in the same way, but versions of other servers may be of any form: those are equal or not.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!digits.test(a) || !digits.test(b)) return undefined;
  // Numbers of any length; as texts of the same length they have the same order.
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `version` is known to be older than `than`, or is the same. */
export function isNotNewer(version: string, than: string): boolean {
  const order = compareVersions(version, than);
  return order !== undefined && order <= 0;
}
