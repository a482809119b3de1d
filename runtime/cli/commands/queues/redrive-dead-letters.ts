import type { CommandSpec } from "../../command-spec.ts";
import { changeDeadLetters, changeOptions, type ChangeOptions } from "./change-dead-letters.ts";

/** `weir dead-letters redrive`. */
export const redriveDeadLetters: CommandSpec<ChangeOptions> = {
  about:
    "Queues calls again that were given up, under the same ids; where only a callback was given up, it is sent again. The exit code is 1 if any was refused.",
  arguments: [{ name: "[id...]", about: "ids of calls, or at least 6 digits of the beginning of each" }],
  options: changeOptions,
  groups: ["gateway", "confirm"],
  examples: [
    { line: "weir dead-letters redrive --all --function hello --yes", about: "All of a function that was corrected" },
    {
      line: "weir dead-letters list --reason crash -o name | xargs -r weir dead-letters redrive",
      about: "Those that a program chose",
    },
  ],
  run: async (context, options, ids) =>
    changeDeadLetters(
      context,
      { act: "redrive", done: "redriven", alwaysAsks: false, method: "POST", suffix: "/redrive" },
      options,
      ids,
    ),
};
