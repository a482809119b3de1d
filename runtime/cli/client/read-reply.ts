import { CliError } from "../cli-error.ts";
import { exitCode } from "../exit-code.ts";
import type { GatewayClient, GatewayRequest } from "./gateway-client.ts";
import type { ReplyKind } from "./reply-kinds.ts";

/**
 * The value at a path of the API, by GET unless another method is named.
 * @throws CliError as any request, and when it is another thing, as of a server that is no gateway
 */
export async function readOne<T>(
  gateway: GatewayClient,
  path: string,
  { fits, one }: ReplyKind<T>,
  { method = "GET", ...options }: GatewayRequest & { readonly method?: string } = {},
): Promise<T> {
  const value = await gateway.json(method, path, options);
  if (fits(value)) return value;
  throw otherReply(gateway, one);
}

/**
 * What `keep` makes of each element of the list at a path of the API; the elements themselves are not kept.
 * @throws CliError as `readOne`
 */
export async function readEach<T, K>(
  gateway: GatewayClient,
  path: string,
  { fits, many }: ReplyKind<T>,
  options: GatewayRequest,
  keep: (element: T) => K,
): Promise<readonly K[]> {
  const kept = await gateway.list(path, options, (element) => {
    if (fits(element)) return keep(element);
    throw otherReply(gateway, many);
  });
  if (kept === undefined) throw otherReply(gateway, many);
  return kept;
}

/** The list at a path of the API. */
export async function readList<T>(
  gateway: GatewayClient,
  path: string,
  kind: ReplyKind<T>,
  options: GatewayRequest = {},
): Promise<readonly T[]> {
  return readEach(gateway, path, kind, options, (element) => element);
}

function otherReply({ address }: GatewayClient, what: string): CliError {
  const sentence = `Cannot read the reply of ${address}: it is not ${what}; is it a Weir gateway?`;
  return new CliError(exitCode.failed, sentence);
}
