import type { CommandSpec } from "../../command-spec.ts";
import { readCallId } from "./call-id.ts";
import { refuseHistory } from "./refuse-history.ts";

/** `weir calls replay`. */
export const replayCall: CommandSpec = {
  about: "Sends the request of an earlier call again, as a new call. The gateway must keep a history of calls.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway"],
  examples: [],
  run: async (context, _options, [text = ""]) => {
    readCallId(text, "replay");
    await refuseHistory(context, `replay call "${text}"`);
  },
};
