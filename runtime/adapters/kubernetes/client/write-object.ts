import { setTimeout as pause } from "node:timers/promises";

import { PlatformError } from "../../../api/platform-error.ts";
import { backOff } from "../../../core/calls/retry.ts";
import { isAlreadyExists, isConflict, isNotFound } from "./kube-refusal.ts";

/** Many writers of one object may conflict several times in a row. */
const maxRounds = 30;

/**
 * Calls `attempt`, which reads an object and writes it changed, again while another writer came in between or an object
 * of that name is still being deleted. Its reads take `options`, so that those after the first wait for their turn like
 * all retries of the client. `task` is the attempt in words: `write function "echo"`.
 * @throws PlatformError `provider_unavailable` after 30 rounds, about 20 s; whatever else `attempt` throws
 */
export async function retryOnConflict<T>(
  task: string,
  attempt: (options: { readonly again: boolean }) => Promise<T>,
): Promise<T> {
  for (let round = 1; ; round += 1) {
    try {
      return await attempt({ again: round > 1 });
    } catch (err) {
      if (!(isConflict(err) || isAlreadyExists(err) || isNotFound(err))) throw err;
      if (round >= maxRounds) {
        const sentence = `Cannot ${task}: others keep changing it, or it is still being deleted`;
        throw new PlatformError("provider_unavailable", sentence, { cause: err });
      }
      await pause(backOff(100, 1_000, round - 1));
    }
  }
}
