import { rm, stat } from "node:fs/promises";
import { join } from "node:path";

import { signingKeyOverlap, signingKeys, type SigningKeyUse } from "../api/iam/signing-keys.ts";

/** Milliseconds between two looks for previous keys. */
const lookInterval = 600_000;

export interface PreviousKeyOptions {
  readonly onError: (err: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Milliseconds. */
  readonly interval?: number;
}

/** Removes the previous keys in `directory` that are no longer needed at `now`. Rejects when a current key is missing. */
export async function dropPreviousKeys(directory: string, now: number): Promise<void> {
  for (const use of Object.keys(signingKeys) as SigningKeyUse[]) {
    const { current, previous } = signingKeys[use];
    const replaced = await stat(join(directory, current));
    const older = await stat(join(directory, previous)).catch(onlyAbsent);
    // In the midst of a rotation, both names lead to the key that is replaced.
    if (older === undefined || older.ino === replaced.ino) continue;
    if (now - replaced.mtimeMs > signingKeyOverlap) await rm(join(directory, previous), { force: true });
  }
}

/** Removes each previous key in `directory` once it is no longer needed, also after later rotations. */
export function followPreviousKeys(
  directory: string,
  { onError, now = Date.now, interval = lookInterval }: PreviousKeyOptions,
): { close(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(() => dropPreviousKeys(directory, now())).catch(onError);
  }, interval).unref();
  return {
    close: () => {
      clearInterval(timer);
      return running;
    },
  };
}

function onlyAbsent(err: unknown): undefined {
  if (!(err instanceof Error && "code" in err && err.code === "ENOENT")) throw err;
}
