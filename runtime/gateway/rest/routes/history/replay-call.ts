import Type from "typebox";

import { header } from "../../../../api/names.ts";
import { PlatformError } from "../../../../api/platform-error.ts";
import { ReplayRequest } from "../../../../api/schemas/history/call-request.ts";
import { callId } from "../../../../api/schemas/name-schemas.ts";
import { callActions } from "../../../../core/history/call-actions.ts";
import { findRequest } from "../../../../core/history/requests/find-request.ts";
import { clientHeaders } from "../../../edge/client-headers.ts";
import { route } from "../../route.ts";
import { storedCallReply } from "../stored-call-reply.ts";
import { readPermittedCall } from "./permitted-call.ts";

const replayAction = "Call:Replay";

/** Sends the request of one call again. */
export const replayCallRoute = route(
  {
    id: "replayCall",
    group: "call history",
    method: "POST",
    path: "/system/calls/:callId/replay",
    needs: replayAction,
    filters: true,
    about: "Queues a call that has ended anew: as a new call of the function as it is now, with a new id.",
    details:
      "The request comes from the dead letter of the call, else from what was kept of it; headers and body can be replaced. Headers that may hold credentials are never sent again, so a request that needs some has to name them. A callback is sent only if that is asked for. The new call is accepted as any other, names the old one in X-Parent-Call-Id, and is the sender's: on a protected function they need Function:Invoke, too.",
    params: Type.Object({ callId: callId("Id of the call") }),
    body: ReplayRequest,
    bodyOptional: true,
    ignoredFields: [],
    responses: [storedCallReply("The new call is stored", "Id of the new call")],
    errors: [
      "call_not_found",
      "call_not_replayable",
      "invalid_callback_url",
      "function_not_found",
      "edition_limit",
      "queue_not_found",
      "payload_too_large",
      "queue_full",
      "store_full",
      "history_off",
      "history_unavailable",
    ],
    trial: {
      commands: "curl -X POST -u admin:$P $G/system/calls/$ID/replay",
      shows: "Cannot replay call …",
    },
  },
  (parts) => {
    const { acceptReplay, queueParts, requests } = parts;
    return async ({ params, body, principal, request: { access }, reply }) => {
      const id = params.callId.toLowerCase();
      // The schema of an optional body admits null, too.
      const asked: ReplayRequest = body ?? {};
      const headers = clientHeaders(asked.headers ?? []);
      const act = `replay call "${id}"`;
      const { call } = await readPermittedCall(parts, { id, act, action: replayAction, principal, access });
      const found = await findRequest({ letters: queueParts.letters, requests }, call);
      const { replay } = callActions(call, { now: queueParts.ledger.now(), requestKept: found !== undefined });
      if (replay !== true || found === undefined) throw new PlatformError("call_not_replayable", String(replay));
      const replayed = await acceptReplay({
        call: found.call,
        asked: { ...asked, headers: [...headers] },
        principal,
        address: access.address,
      });
      reply.headers({ [header.callId]: replayed.id, [header.startTime]: replayed.start.toString() });
    };
  },
);
