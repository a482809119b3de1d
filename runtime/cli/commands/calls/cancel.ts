import type { CommandSpec } from "../../command-spec.ts";
import { wholeCallId } from "./call-id.ts";

/** `weir calls cancel`. */
export const cancelQueuedCall: CommandSpec = {
  about: "Cancels a queued call: a run of it is cut, and none starts afterwards.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway"],
  examples: [
    {
      line: 'id=$(weir invoke hello --async -d hi); weir calls cancel "$id" || weir calls show "$id"',
      about: "Cancels a call, or shows what became of it if it was quicker",
    },
  ],
  run: async (context, _options, [text = ""]) => {
    const id = await wholeCallId(context, text, "cancel");
    const gateway = await context.gateway();
    await gateway.accepted("DELETE", `/async-function/${id}`);
    context.output.note(`Call "${id}" is cancelled`);
  },
};
