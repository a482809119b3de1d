import Type from "typebox";

import { PlatformError } from "../../../../api/platform-error.ts";
import type { KeptRequest } from "../../../../api/schemas/history/call-detail.ts";
import { CallRequest } from "../../../../api/schemas/history/call-request.ts";
import { callId } from "../../../../api/schemas/name-schemas.ts";
import { bodiesAnnotation } from "../../../../core/history/call-actions.ts";
import { callRequestView } from "../../../../core/history/requests/call-request-view.ts";
import { findRequest, type RequestSources } from "../../../../core/history/requests/find-request.ts";
import type { HistoryCall } from "../../../../core/history/history-row.ts";
import { formatRef } from "../../../../core/functions/function-ref.ts";
import { route } from "../../route.ts";
import { readPermittedCall } from "./permitted-call.ts";

const payloadAction = "Call:Payload";

/** The request of one call. */
export const callRequestRoute = route(
  {
    id: "getCallRequest",
    group: "call history",
    method: "GET",
    path: "/system/calls/:callId/request",
    needs: payloadAction,
    filters: true,
    about: "Shows the request of a call that has ended, from its dead letter, else as it was kept.",
    details:
      "Requests are kept for as long as annotation com.service.history.bodies of the function says, else the setting history_bodies, by default not at all; the oldest make room for new ones. Headers that may hold credentials are not kept; redacted names them.",
    params: Type.Object({ callId: callId("Id of the call") }),
    responses: [{ status: 200, about: "The request", schema: CallRequest }],
    errors: ["call_not_found", "request_not_kept", "history_off", "history_unavailable"],
    trial: {
      commands: "curl -u admin:$P $G/system/calls/$ID/request",
      shows: "Cannot show the request of call …",
    },
  },
  (parts) => {
    const sources: RequestSources = { letters: parts.queueParts.letters, requests: parts.requests };
    return async ({ params, principal, request: { access } }) => {
      const id = params.callId.toLowerCase();
      const act = `show the request of call "${id}"`;
      const { call } = await readPermittedCall(parts, { id, act, action: payloadAction, principal, access });
      const found = await findRequest(sources, call);
      if (found === undefined) throw new PlatformError("request_not_kept", `Cannot ${act}: ${whyNotKept(call)}`);
      return callRequestView(found);
    };
  },
);

/**
 * Whether the request of a call can be shown; undefined while the broker, which keeps it, is away.
 * @throws Error for a defect
 */
export async function keptRequestOf(sources: RequestSources, call: HistoryCall): Promise<KeptRequest | undefined> {
  try {
    const found = await findRequest(sources, call);
    if (found === undefined) return { kept: false };
    return { kept: true, size: found.call.body.byteLength, expiresAt: new Date(found.expiresAt).toISOString() };
  } catch (err) {
    if (err instanceof PlatformError) return undefined;
    throw err;
  }
}

function whyNotKept({ row }: HistoryCall): string {
  if (row.kind === "sync") return "it was answered at once, and requests of such calls are not kept";
  if (row.ended === null && row.state !== "unknown") return `it is ${row.state}, and requests are kept at the end`;
  return `it was not kept, or no longer is; set annotation ${bodiesAnnotation} on function "${formatRef(row)}"`;
}
