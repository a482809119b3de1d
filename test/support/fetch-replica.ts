import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";

import { socketPathOf } from "../../runtime/api/replica-address.ts";

/** Calls a replica on a new connection, at its port or its socket; resolves with the whole reply. */
export async function fetchReplica(
  address: string | undefined,
  path = "/",
  method: "GET" | "POST" = "GET",
): Promise<Response> {
  if (address === undefined) throw new Error("the replica has no address");
  const socketPath = socketPathOf(address);
  const place = socketPath === undefined ? new URL(`http://${address}`) : "http://localhost";
  const sent = request(place, { agent: false, socketPath, path, method });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return new Response(await buffer(response), { status: response.statusCode ?? 0 });
}
