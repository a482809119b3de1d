import { openDispatcher } from "../../runtime/cli/client/dispatcher.ts";
import { GatewayClient } from "../../runtime/cli/client/gateway-client.ts";

/** The command's client of a gateway, without credentials; its connections end with an `await using` block. */
export async function gatewayClientOf(
  address: string,
  timeout = 10_000,
): Promise<AsyncDisposable & { readonly client: GatewayClient }> {
  const dispatcher = await openDispatcher(address, {}, timeout);
  const { signal } = new AbortController();
  const client = new GatewayClient({ address, credentials: undefined, dispatcher, timeout, signal, debug: undefined });
  return { client, [Symbol.asyncDispose]: () => dispatcher.destroy() };
}
