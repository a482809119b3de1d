import type { CommandSpec } from "../../command-spec.ts";
import { readCallId } from "./call-id.ts";
import { refuseHistory } from "./refuse-history.ts";

/** `weir calls logs`. */
export const callLogs: CommandSpec = {
  about: "Shows what a function logged during a call. The gateway must keep a history of calls.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway"],
  examples: [],
  run: async (context, _options, [text = ""]) => {
    readCallId(text, "show the logs of");
    await refuseHistory(context, `show the logs of call "${text}"`);
  },
};
