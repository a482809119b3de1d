import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import { backOff } from "../../../core/calls/retry.ts";
import { isAlreadyThere, isConflict, isNotFound } from "./kube-refusal.ts";

/** Conflicts in a row that many writers of one object may have. */
const mostRounds = 30;

/**
 * Calls `attempt`, which reads an object and writes what is to become of it, again while somebody else wrote in
 * between, or one of that name is still being deleted. Its reads take `options`, so that those after the first wait for
 * their turn as all repeated requests of the client do. `task` is that in words: `write function "echo"`.
 * @throws PlatformError `provider_unavailable` after 30 rounds, in 20 s or so; whatever else `attempt` throws
 */
export async function writeUntilAlone<T>(
  task: string,
  attempt: (options: { readonly again: boolean }) => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await attempt({ again: round > 1 });
    } catch (err) {
      if (!(isConflict(err) || isAlreadyThere(err) || isNotFound(err))) throw err;
      if (round >= mostRounds) {
        const sentence = `Cannot ${task}: others change it all the time, or it is still being deleted`;
        throw new PlatformError("provider_unavailable", sentence, { cause: err });
      }
      await pause(backOff(100, 1_000, round - 1));
    }
  }
}
