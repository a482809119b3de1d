import type { CommandSpec } from "../../command-spec.ts";
import { changeDeadLetters, changeOptions, type ChangeOptions } from "./change-dead-letters.ts";

/** `weir dead-letters delete`. */
export const removeDeadLetters: CommandSpec<ChangeOptions> = {
  about: "Deletes dead letters: these calls never run again. The exit code is 1 if any was refused.",
  arguments: [{ name: "[id...]", about: "ids of calls, or at least 6 digits of the beginning of each" }],
  options: changeOptions,
  groups: ["gateway", "confirm"],
  examples: [
    {
      line: "weir dead-letters delete --all --queue default --reason expired --yes",
      about: "Those that came too late",
    },
  ],
  run: async (context, options, ids) =>
    changeDeadLetters(
      context,
      { act: "delete", done: "deleted", alwaysAsks: true, method: "DELETE", suffix: "" },
      options,
      ids,
    ),
};
