import { authRequired, header } from "../../api/names.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import type { GatewayReply } from "../client/gateway-reply.ts";
import { readStartOf } from "../client/read-limited.ts";
import { refusal } from "../client/refusal.ts";
import type { OpenedBody } from "./call-body.ts";
import type { CallHeaders } from "./call-headers.ts";

/** A call of a function, ready to be sent. */
export interface PreparedCall {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: CallHeaders;
  readonly body: OpenedBody;
  /** Milliseconds until the head of the reply. */
  readonly timeout: number;
}

/** What a function gets that was not told what to reply; the gateway's own errors are JSON then. */
const accept = "*/*, application/problem+json;q=0.1";

/** Bytes of a gateway's refusal at most. */
const mostRefusal = 65_536;

/**
 * Sends a call. Credentials are sent only after the gateway itself asked for them, as any others might be given to the
 * function.
 * @throws CliError when no reply comes
 */
export async function sendCall(gateway: GatewayClient, call: PreparedCall): Promise<GatewayReply> {
  const send = async (authorized: boolean): Promise<GatewayReply> => {
    const { body, length } = call.body.open();
    try {
      return await gateway.send(call.method, call.path, {
        headers: { accept, ...(length === undefined ? {} : { "content-length": String(length) }), ...call.headers },
        ...(body === undefined ? {} : { body }),
        authorized,
        timeout: call.timeout,
      });
    } catch (err) {
      throw call.body.failure() ?? err;
    }
  };
  const reply = await send(false);
  if (!asksForCredentials(reply) || !gateway.hasCredentials || call.headers["authorization"] !== undefined)
    return reply;
  // To its end: to abort it could hit the next request on the same connection.
  await readStartOf(reply.body, mostRefusal);
  return send(true);
}

/**
 * Returns if the function replied: the gateway adds to such a reply how long it took, and to its own ones not.
 * @throws CliError with the gateway's sentence
 */
export async function requireOfFunction(
  { address }: GatewayClient,
  { method, path }: PreparedCall,
  reply: GatewayReply,
): Promise<void> {
  const ofFunction = reply.status < 300 || reply.headers[header.durationSeconds.toLowerCase()] !== undefined;
  if (!ofFunction) throw await refusal(address, method, path, reply);
}

function asksForCredentials({ status, headers }: GatewayReply): boolean {
  return status === 401 && headers[header.weirAuth.toLowerCase()] === authRequired;
}
