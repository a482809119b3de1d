import type { FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";

import { header } from "../../../api/names.ts";
import { PlatformError } from "../../../api/platform-error.ts";
import { callId } from "../../../api/schemas/name-schemas.ts";
import { permitted, type Principal } from "../../../core/access/principal.ts";
import { requireAccess } from "../../access/access-denied.ts";
import { resourceOf } from "../../access/function-callers.ts";
import { readStoredResult } from "../../calls/async/call-responses.ts";
import { asyncFunctionPrefix } from "../../calls/split-target.ts";
import { maxRawBody, rawType } from "./raw-body.ts";
import { route, type RouteEntry } from "../../rest/route.ts";
import { getCallAction } from "../../rest/routes/history/permitted-call.ts";
import { HeldExchange } from "./held-exchange.ts";
import type { SessionCalls } from "./session-calls.ts";
import { toldHeaders } from "./told-reply.ts";
import { longestHeld, requirePage } from "./try-routes.ts";

const payloadAction = "Call:Payload";

/** The stored result of a queued call, for its page. */
export const resultRoute = route(
  {
    id: "getResultForPage",
    group: "calls",
    method: "GET",
    path: "/ui/result/:callId",
    needs: payloadAction,
    filters: true,
    about: "Returns the output of a queued call for a page of the console.",
    params: Type.Object({ callId: callId("Id of the call") }),
    responses: [{ status: 200, about: "What the function said", schema: Type.String(), type: rawType }],
    head: false,
    documented: false,
  },
  ({ queueParts: { ledger } }) =>
    async ({ params, principal, request, reply }) => {
      requirePage(request);
      const id = params.callId.toLowerCase();
      const found = await ledger.read(id);
      const unknown = new PlatformError("call_not_found", `Cannot show call "${id}": it is unknown or expired`);
      if (found === undefined) throw unknown;
      const resource = resourceOf({ namespace: found.entry.namespace, name: found.entry.function });
      const may = (action: string): boolean => permitted(principal, { action, resource }).allowed;
      if (!may(payloadAction) && !may(getCallAction)) throw unknown;
      const { access } = request;
      access.by = requireAccess(principal, { action: payloadAction, resource });
      access.resources = [resource];
      const { status, headers, body } = await readStoredResult(ledger, id, found.entry);
      const truncated = body.byteLength > maxRawBody;
      reply.headers({ ...toldHeaders({ status, headers, truncated }), [header.callId]: id });
      await reply.send(Buffer.from(body.buffer, body.byteOffset, Math.min(body.byteLength, maxRawBody)));
    },
);

/** Cancels queued calls, as `port` does, but for who is signed in. */
export function cancelRoutes(calls: SessionCalls, hostOf: () => string): readonly RouteEntry[] {
  return [
    { id: "cancelForPage", path: `${asyncFunctionPrefix}:target` },
    { id: "cancelOfFunctionForPage", path: `${asyncFunctionPrefix}:target/:callId` },
  ].map(({ id, path }) =>
    route(
      {
        id,
        group: "asynchronous calls",
        method: "DELETE",
        path,
        needs: "credentials",
        about: "Cancels a queued call.",
        responses: [{ status: 202, about: "The call is cancelled" }],
        changes: false,
        documented: false,
      },
      () =>
        ({ request, reply, principal }) =>
          cancel(request, reply, principal, calls, hostOf()),
    ),
  );
}

async function cancel(
  { originalUrl, access }: FastifyRequest,
  reply: FastifyReply,
  principal: Principal,
  calls: SessionCalls,
  host: string,
): Promise<void> {
  const request = { method: "DELETE", url: originalUrl, headers: ["Host", host], body: Buffer.alloc(0) } as const;
  const exchange = new HeldExchange({ ...request, address: access.address, limit: maxRawBody, longest: longestHeld });
  const replied = await calls.queue(exchange, principal);
  for (let index = 0; index + 1 < (replied?.headers.length ?? 0); index += 2) {
    const name = replied?.headers[index] ?? "";
    if (name.toLowerCase() !== "content-length") reply.header(name, replied?.headers[index + 1] ?? "");
  }
}
