import { readOne } from "../../client/read-reply.ts";
import { functionReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { functionText } from "./function-text.ts";
import { namedFunction } from "./named-function.ts";

/** `weir describe`. */
export const describeFunction: CommandSpec<{ readonly namespace?: string }> = {
  about: "Shows a function: its conditions with their reasons, then what was deployed.",
  arguments: [{ name: "<name>", about: "function, as in hello or hello.dev", completes: "function" }],
  groups: ["gateway", "namespace", "output"],
  examples: [
    { line: "weir describe hello", about: "The state of a function, and why it is so" },
    { line: "weir describe hello -o yaml", about: "Everything, as the gateway's API returns it" },
  ],
  run: async (context, options, [text = ""]) => {
    const { name, namespace } = await namedFunction(context, text, options.namespace);
    const gateway = await context.gateway();
    const query = { namespace, usage: 1 };
    const status = await readOne(gateway, `/system/function/${name}`, functionReply, { query });
    await context.output.value(status, { text: () => functionText(status), name });
  },
};
