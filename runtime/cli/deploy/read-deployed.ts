import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../api/schemas/function-status.ts";
import { CliError } from "../cli-error.ts";
import type { GatewayClient } from "../client/gateway-client.ts";
import { readOne } from "../client/read-reply.ts";
import { functionReply } from "../client/reply-kinds.ts";

/**
 * A function as it is deployed; undefined if there is none of this name.
 * @throws CliError also when its namespace is unknown
 */
export async function readDeployed(
  gateway: GatewayClient,
  { service, namespace }: Pick<FunctionDeployment, "service" | "namespace">,
): Promise<FunctionStatus | undefined> {
  const path = `/system/function/${encodeURIComponent(service)}`;
  try {
    return await readOne(gateway, path, functionReply, { query: { namespace } });
  } catch (err) {
    if (err instanceof CliError && err.code === "function_not_found") return undefined;
    throw err;
  }
}
