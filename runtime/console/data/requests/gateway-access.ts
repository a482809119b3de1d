import type { GatewayConnection } from "./connection.ts";
import { failureOfResponse, isAbort, RequestFailure } from "./request-failure.ts";
import { sendRequest, type SentRequest } from "./send-request.ts";

/** What requests go through. */
export interface GatewayAccess {
  readonly fetch: typeof globalThis.fetch;
  readonly connection: Pick<GatewayConnection, "lost">;
}

/**
 * The reply to a request, whatever its status. `act` is for the sentence when there is none: `read the queues`.
 * @throws RequestFailure `gateway_away`, which the connection is told, and DOMException `AbortError`
 */
export async function sendToGateway(access: GatewayAccess, request: SentRequest, act: string): Promise<Response> {
  try {
    return await sendRequest(access.fetch, request);
  } catch (err) {
    if (isAbort(err) || request.signal?.aborted === true) throw err;
    access.connection.lost();
    throw new RequestFailure("gateway_away", `Cannot ${act}: the gateway does not reply`, { cause: err });
  }
}

/** The failure that a reply stands for. Its body is read, and the connection is told if the gateway is away. */
export async function failureOfReply(
  { connection }: Pick<GatewayAccess, "connection">,
  response: Response,
  act: string,
): Promise<RequestFailure> {
  const failure = await failureOfResponse(response, act);
  if (failure.code === "gateway_away") connection.lost();
  return failure;
}
