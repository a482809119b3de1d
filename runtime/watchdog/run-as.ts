import { FailureError } from "./failure-error.ts";

/**
 * Switches to user `uid:gid` permanently, without supplementary groups. Every module must be loaded before: the user
 * may not be able to read them.
 * @throws FailureError `CannotRun` when `text` is not such a pair or names root; the system's error when it refuses
 */
export function runAs(text: string): void {
  const [, uid, gid] = /^([1-9]\d{0,9}):([1-9]\d{0,9})$/.exec(text) ?? [];
  const { setgroups, setgid, setuid } = process;
  if (uid === undefined || gid === undefined || !setgroups || !setgid || !setuid) {
    throw new FailureError("CannotRun", `Cannot run as "${text}": expected uid:gid of a user other than root`);
  }
  setgroups([]);
  setgid(Number(gid));
  setuid(Number(uid));
}
