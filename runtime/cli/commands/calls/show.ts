import { readOne } from "../../client/read-reply.ts";
import { callReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { wholeCallId } from "./call-id.ts";
import { callText } from "./call-text.ts";

/** `weir calls show`. */
export const showCall: CommandSpec = {
  about: "Shows a queued call: its state, and what happened to it when.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway", "output"],
  examples: [
    { line: 'weir calls show "$(weir invoke hello --async -d hi)"', about: "A call that was just queued" },
    {
      line: 'weir calls show "$(weir invoke hello --async -d hi)" -o json',
      about: "Its record as the gateway keeps it",
    },
  ],
  run: async (context, _options, [text = ""]) => {
    const id = await wholeCallId(context, text, "show");
    const gateway = await context.gateway();
    const record = await readOne(gateway, `/async-function/${id}`, callReply);
    await context.output.value(record, { text: () => callText(record), name: id });
  },
};
