import type { CommandSpec } from "../../command-spec.ts";
import { wholeCallId } from "./call-id.ts";
import { callText } from "./call-text.ts";
import { defaultCallWait, requireDone, waitForCall } from "./wait-for-call.ts";

/** `weir calls wait`. */
export const waitCall: CommandSpec = {
  about:
    "Waits until a queued call has ended, then shows it; 10 minutes unless --timeout says otherwise. The exit code is 7 if it failed or was cancelled, 6 if it still has not ended.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway", "output"],
  examples: [
    { line: 'weir calls wait "$(weir invoke hello --async -d hi)"', about: "Queues a call and waits for its end" },
    {
      line: 'weir calls wait "$(weir invoke hello --async -d hi)" --timeout 1m -o name',
      about: "For a minute at most; prints its id",
    },
  ],
  run: async (context, _options, [text = ""]) => {
    const id = await wholeCallId(context, text, "wait for");
    const record = await waitForCall(await context.gateway(), id, context.timeout(defaultCallWait));
    await context.output.value(record, { text: () => callText(record), name: id });
    requireDone(record);
  },
};
