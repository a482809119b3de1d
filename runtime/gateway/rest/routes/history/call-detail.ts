import Type from "typebox";

import { CallDetail } from "../../../../api/schemas/history/call-detail.ts";
import { callId } from "../../../../api/schemas/name-schemas.ts";
import { PlatformError } from "../../../../api/platform-error.ts";
import type { CallRow, HistoryCall } from "../../../../core/history/history-row.ts";
import type { HistoryParts } from "../../app-parts.ts";
import { route } from "../../route.ts";
import { linesOfCall } from "./call-logs.ts";
import { getCallAction, readPermittedCall } from "./permitted-call.ts";
import { callDetailReader } from "./read-call-detail.ts";
import { requiredHistory } from "./required-history.ts";

const CallPath = Type.Object({ callId: callId("Id of the call") });

const deleteAction = "Call:Delete";

const getCallDetail = route(
  {
    id: "getCallDetail",
    group: "call history",
    method: "GET",
    path: "/system/calls/:callId",
    needs: getCallAction,
    filters: true,
    about: "Shows everything that is known of a call: its record, what the history adds, its timeline.",
    details:
      "While the record is kept, it is the truth, and the reply is as current as that. While the history is away, the reply is made from the record alone, with history.complete false. Attempts that failed show the end of what the function wrote to standard error, to who may also read its logs (Function:Logs). A call whose function the sender may not see is 404.",
    params: CallPath,
    responses: [{ status: 200, about: "The call", schema: CallDetail }],
    errors: ["call_not_found", "history_off", "history_unavailable"],
    trial: {
      commands: "curl -u admin:$P $G/system/calls/$ID",
      shows: '{"callId":"<id>",…"state":"done",…"timeline":[{…"kind":"accepted"…',
    },
  },
  (parts) => {
    const readDetail = callDetailReader(parts);
    return ({ params, principal, request: { access } }) =>
      readDetail({ id: params.callId.toLowerCase(), principal, access });
  },
);

const deleteCall = route(
  {
    id: "deleteCall",
    group: "call history",
    method: "DELETE",
    path: "/system/calls/:callId",
    needs: deleteAction,
    filters: true,
    about: "Removes a call that has ended from the history, for good.",
    details:
      "The history never shows it again, also after it was built anew. Its request and its log lines, if they were kept, are removed. Its record, result and dead letter stay with the broker until they expire or are deleted; while the record is there, the call is shown by its id.",
    params: CallPath,
    responses: [{ status: 202, about: "The call is removed" }],
    errors: ["call_not_found", "call_not_finished", "history_off", "history_unavailable"],
    trial: {
      commands: "curl -i -X DELETE -u admin:$P $G/system/calls/$ID",
      shows: "HTTP/1.1 202 Accepted\n…",
    },
  },
  (parts) =>
    async ({ params, principal, request: { access } }) => {
      const id = params.callId.toLowerCase();
      const act = `delete call "${id}"`;
      const { call } = await readPermittedCall(parts, { id, act, action: deleteAction, principal, access });
      const { row } = call;
      const history = requiredHistory(parts.history, act);
      if (isOpen(row)) throw notFinished(id, `it is ${row.state}; cancel it first`);
      // Before the row, which says where it is: whoever repeats a failed request finds both.
      await parts.requests.remove(row, id);
      await removeLines(history, act, call, parts.queueParts.ledger.now());
      if (!(await history.remove(id)))
        throw notFinished(id, "the history has not seen its end yet; try again in a moment");
    },
);

/** One call of the history. */
export const callDetailRoutes = [getCallDetail, deleteCall];

async function removeLines(history: HistoryParts, act: string, call: HistoryCall, now: number): Promise<void> {
  if (history.logs === undefined) return;
  const lines = await linesOfCall(history, act, call, now);
  if (lines.length > 0)
    await history.logs.remove(
      call.row,
      lines.map(({ line }) => line.place),
    );
}

function isOpen({ ended, state }: CallRow): boolean {
  return ended === null && state !== "unknown";
}

function notFinished(id: string, why: string): PlatformError {
  return new PlatformError("call_not_finished", `Cannot delete call "${id}": ${why}`);
}
