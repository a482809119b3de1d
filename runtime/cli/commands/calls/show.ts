import type { CallRecord } from "../../../api/schemas/call-record.ts";
import type { CallDetail } from "../../../api/schemas/history/call-detail.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readOne } from "../../client/read-reply.ts";
import { callDetailReply, callReply } from "../../client/reply-kinds.ts";
import type { CommandSpec } from "../../command-spec.ts";
import { exitCode } from "../../exit-code.ts";
import { wholeCallId } from "./call-id.ts";
import { callText } from "./call-text.ts";
import { detailText } from "./detail-text.ts";
import { historyNotes } from "./history-notes.ts";
import { hasNoHistory } from "./refuse-history.ts";

/** `weir calls show`. */
export const showCall: CommandSpec = {
  about:
    "Shows a call: its state, and what happened to it when. Without a history, queued calls for as long as their records are kept.",
  arguments: [{ name: "<id>", about: "id of the call", completes: "call" }],
  groups: ["gateway", "output"],
  examples: [
    { line: 'weir calls show "$(weir invoke hello --async -d hi)"', about: "A call that was just queued" },
    {
      line: 'weir calls show "$(weir invoke hello --async -d hi)" -o json',
      about: "All that the gateway knows of it",
    },
  ],
  run: async (context, _options, [text = ""]) => {
    const id = await wholeCallId(context, text, "show");
    const call = await knownCall(await context.gateway(), id);
    const shown = "detail" in call ? call.detail : call.record;
    const textOf = () => ("detail" in call ? detailText(call.detail) : callText(call.record));
    await context.output.value(shown, { text: textOf, name: id });
    if ("detail" in call) for (const note of historyNotes(call.detail.history)) context.output.warn(note);
  },
};

/** The id that `weir invoke` prints is in no history, mostly. */
const notKept =
  "; of successful synchronous calls only a sample is kept, unless annotation com.service.history.sync is all";

function isUnknown(err: unknown): err is CliError {
  return err instanceof CliError && err.code === "call_not_found";
}

type KnownCall = { readonly detail: CallDetail } | { readonly record: CallRecord };

/** A call as the history shows it, else its record, which may be read without credentials. */
async function knownCall(gateway: GatewayClient, id: string): Promise<KnownCall> {
  try {
    return { detail: await readOne(gateway, `/system/calls/${id}`, callDetailReply) };
  } catch (refused) {
    if (isUnknown(refused)) throw new CliError(refused.exit, `${refused.message}${notKept}`, refused);
    if (!isOfHistoryAlone(refused)) throw refused;
    try {
      return { record: await readOne(gateway, `/async-function/${id}`, callReply) };
    } catch (err) {
      // Without a record, what keeps the history from saying more is the reason.
      throw isUnknown(err) && !hasNoHistory(refused) ? refused : err;
    }
  }
}

/** Whether the record may be shown though the history was refused. */
function isOfHistoryAlone(err: unknown): boolean {
  return (
    hasNoHistory(err) ||
    (err instanceof CliError && (err.exit === exitCode.credentials || err.code === "history_unavailable"))
  );
}
