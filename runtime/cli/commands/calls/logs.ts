import type { CommandSpec } from "../../command-spec.ts";
import { logDocument, logLine } from "../../logs/log-line.ts";
import { readCallLog } from "../../logs/read-call-log.ts";
import { wholeCallId } from "./call-id.ts";
import { fromHistory } from "./refuse-history.ts";

interface CallLogOptions {
  readonly output: "table" | "json";
}

/** `weir calls logs`. */
export const callLogs: CommandSpec<CallLogOptions> = {
  about:
    "Shows what a function logged during a call: lines that name the call, and those written while it ran, if the history knows of no other call that the function had then. A line is there about two seconds after it was written.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  options: [
    {
      flags: "-o, --output <format>",
      about: "format of the lines; json is one object on each line",
      fallback: "table",
      choices: ["table", "json"],
    },
  ],
  groups: ["gateway"],
  examples: [
    { line: 'weir calls logs "$(weir invoke hello --async -d hi)"', about: "What a call logged" },
    {
      line: 'weir calls logs "$(weir invoke hello --async -d hi)" -o json',
      about: "The same, and why each line is shown",
    },
  ],
  run: async (context, { output }, [text = ""]) => {
    const id = await wholeCallId(context, text, "show the logs of");
    const gateway = await context.gateway();
    const show = output === "json" ? logDocument : logLine;
    await fromHistory(`show the logs of call "${id}"`, async () => {
      for await (const record of readCallLog(gateway, id)) await context.output.write(show(record));
    });
  },
};
