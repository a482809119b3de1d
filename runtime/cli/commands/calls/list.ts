import type { CommandSpec } from "../../command-spec.ts";
import { refuseHistory } from "./refuse-history.ts";

/** `weir calls list`. */
export const listCalls: CommandSpec = {
  about: "Lists calls, the newest first. The gateway must keep a history of calls.",
  groups: ["gateway"],
  examples: [],
  run: async (context) => refuseHistory(context, "list calls", "calls show and calls wait need none"),
};
