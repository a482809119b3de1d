import type { CallRequest } from "../../../../api/schemas/history/call-request.ts";
import type { GatewayClient } from "../../../client/gateway-client.ts";
import { readOne } from "../../../client/read-reply.ts";
import { callRequestReply } from "../../../client/reply-kinds.ts";
import { fromHistory } from "../refuse-history.ts";

/**
 * The request of a call that was kept; `act` completes the sentence `Cannot <act>`.
 * @throws CliError when it was not kept, or the gateway keeps no history
 */
export function readCallRequest(gateway: GatewayClient, id: string, act: string): Promise<CallRequest> {
  return fromHistory(act, () => readOne(gateway, `/system/calls/${id}/request`, callRequestReply));
}

/** The body of a kept request. */
export function bodyOf({ body }: Pick<CallRequest, "body">): Buffer {
  return Buffer.from(body, "base64");
}
