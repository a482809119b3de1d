import { readOne } from "../../client/read-reply.ts";
import { functionReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { functionText } from "./function-text.ts";
import { lastCallsText } from "./last-calls.ts";
import { namedFunction } from "./named-function.ts";

/** `weir describe`. */
export const describeFunction: CommandSpec<{ readonly namespace?: string }> = {
  about:
    "Shows a function: its conditions with their reasons, what was deployed, and its last calls where the gateway keeps a history.",
  arguments: [{ name: "<name>", about: "function, as in hello or hello.dev", completes: "function" }],
  groups: ["gateway", "namespace", "output"],
  examples: [
    { line: "weir describe hello", about: "The state of a function, and why it is so" },
    { line: "weir describe hello -o yaml", about: "Everything, as the gateway's API returns it" },
  ],
  run: async (context, options, [given = ""]) => {
    const { name, namespace } = await namedFunction(context, given, options.namespace);
    const gateway = await context.gateway();
    const query = { namespace, usage: 1 };
    const status = await readOne(gateway, `/system/function/${name}`, functionReply, { query });
    const calls = context.output.format === "table" ? await lastCallsText(gateway, status) : "";
    const text = (): string => `${functionText(status)}${calls === "" ? "" : `\n${calls}`}`;
    await context.output.value(status, { text, name });
  },
};
