import { usageError } from "../../cli-error.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { followLog } from "../../logs/follow-log.ts";
import { logLine, logDocument } from "../../logs/log-line.ts";
import { wholeCallId } from "../calls/call-id.ts";
import { fromHistory } from "../calls/refuse-history.ts";
import { parseSince, parseTail } from "./log-options.ts";
import { namedFunction } from "./named-function.ts";

interface LogOptions {
  readonly follow?: boolean;
  readonly since?: string;
  readonly tail?: string;
  readonly instance?: string;
  readonly call?: string;
  readonly output: "table" | "json";
  readonly namespace?: string;
}

/** Milliseconds for which a gateway may be away while its log is followed. */
const longestAway = 300_000;

/** `weir logs`. */
export const functionLogs: CommandSpec<LogOptions> = {
  about:
    "Shows what a function logged, line by line: time, replica, text. With --follow it goes on until Ctrl-C or until the function is deleted, also when the connection breaks.",
  arguments: [{ name: "<name>", about: "function, as in hello or hello.dev", completes: "function" }],
  options: [
    { flags: "-f, --follow", about: "go on with new lines as they come" },
    { flags: "--since <time>", about: "only lines since then: how long ago, as in 10m, or a time in RFC 3339" },
    { flags: "--tail <lines>", about: "only the last lines of each replica" },
    { flags: "--instance <replica>", about: "only lines of this replica" },
    { flags: "--call <id>", about: "only lines of this call, if the gateway keeps a history" },
    {
      flags: "-o, --output <format>",
      about: "format of the lines; json is one object on each line",
      fallback: "table",
      choices: ["table", "json"],
    },
  ],
  groups: ["gateway", "namespace"],
  examples: [
    { line: "weir logs hello --tail 20", about: "The last 20 lines of each replica" },
    { line: "weir logs hello --since 10m -o json", about: "Ten minutes, one JSON object on each line" },
  ],
  run: async (context, { call, follow = false, instance, namespace: given, output, since, tail }, [text = ""]) => {
    const { name, namespace } = await namedFunction(context, text, given);
    if (call !== undefined && follow) throw usageError("Cannot use --follow with --call: what a call logged is there");
    const selection = {
      name,
      namespace,
      instance,
      tail: parseTail(tail),
      since: parseSince(since, Date.now()),
      follow,
      call: call === undefined ? undefined : await wholeCallId(context, call, "show the logs of"),
    };
    if (instance === "") throw usageError("Cannot use --instance: it is empty");
    const show = output === "json" ? logDocument : logLine;
    const retry = {
      timeout: context.timeout(longestAway),
      signal: context.terminal.signal,
      onBreak: () => context.output.note("The connection broke; going on as soon as the gateway is back"),
    };
    await fromHistory(`show the logs of call "${call ?? ""}"`, async () => {
      for await (const record of followLog(await context.gateway(), selection, retry))
        await context.output.write(show(record));
    });
  },
};
