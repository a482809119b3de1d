import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../api/schemas/function-status.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { exitCode } from "../../exit-code.ts";
import type { SentDeployment } from "./await-ready.ts";
import { readDeployed } from "../read-deployed.ts";

/** Margin for a clock that is shown in whole seconds. */
const second = 1_000;

/** With the function as the gateway showed it then. */
export interface DeliveredDeployment extends SentDeployment {
  readonly status: FunctionStatus;
}

/** Replaces a function by a deployment, or creates it; resolves to its generation, and the function as it is then. */
export async function sendDeployment(
  gateway: GatewayClient,
  deployment: FunctionDeployment,
): Promise<DeliveredDeployment> {
  const { headers, body } = await gateway.accepted("PUT", "/system/functions", { json: deployment });
  body.resume();
  const status = await readDeployed(gateway, deployment);
  if (status === undefined)
    throw new CliError(exitCode.failed, `Cannot deploy "${deployment.service}": it was removed meanwhile`);
  const at = Date.parse(String(headers["date"]));
  const sentAt = Number.isNaN(at) ? undefined : new Date(at - second).toISOString();
  return { deployment, generation: status.generation, sentAt, status };
}
