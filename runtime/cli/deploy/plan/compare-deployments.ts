import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { changedFields } from "./changed-fields.ts";
import { checkDeployments } from "./check-deployments.ts";
import type { ChosenFunctions } from "./choose-functions.ts";
import type { ComparedDeployment } from "./compared-deployment.ts";
import { planDeployment, type PlanPlace } from "./plan-deployment.ts";
import { readDeployed } from "../read-deployed.ts";
import { resultOfEach } from "../settle-each.ts";

/**
 * Reads and checks everything that is to be deployed, and what is deployed now; nothing is built or sent.
 * @throws CliError with everything that is wrong, a sentence each
 */
export async function compareDeployments(
  gateway: GatewayClient,
  info: SystemInfo,
  { project, names }: ChosenFunctions,
  place: PlanPlace,
): Promise<readonly ComparedDeployment[]> {
  const planned = await resultOfEach(names, (name) => planDeployment(project, name, place));
  const deployments = planned.map(({ deployment }) => deployment);
  await checkDeployments(gateway, info, deployments);
  return resultOfEach(planned, async (each) => {
    const before = await readDeployed(gateway, each.deployment);
    return { ...each, before, changes: changedFields(before, each.deployment) };
  });
}
