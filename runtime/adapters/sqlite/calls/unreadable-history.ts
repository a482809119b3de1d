import { PlatformError } from "../../../api/platform-error.ts";
import { markDamaged } from "../database/sqlite-damage.ts";

/** A file, and who is told when it turns out to be damaged. */
export interface WatchedFile {
  readonly file: string;
  readonly onDamaged?: ((sentence: string) => void) | undefined;
}

/** The error of a read that has no result. */
export function unreadableHistory(reason: string): PlatformError {
  return new PlatformError("history_unavailable", `Cannot read history: ${reason}`);
}

/** A read met damage: the file is moved aside when it is opened next. */
export function reportDamagedFile({ file, onDamaged }: WatchedFile, reason: string): void {
  markDamaged(file, reason);
  onDamaged?.(`Cannot use file "${file}": ${reason}`);
}
