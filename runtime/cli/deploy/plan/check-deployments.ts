import { parseDuration } from "../../../api/duration.ts";
import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { SystemInfo } from "../../../api/schemas/system-info.ts";
import { CliError } from "../../cli-error.ts";
import type { GatewayClient } from "../../client/gateway-client.ts";
import { readList, readOne } from "../../client/read-reply.ts";
import { queueReply, secretReply } from "../../client/reply-kinds.ts";
import { exitCode } from "../../exit-code.ts";
import { deploymentFaults, needsLongQueue, queueOf } from "./deployment-faults.ts";
import { resultOfEach } from "../settle-each.ts";

/**
 * Checks secrets, edition and timeouts of all deployments by what the gateway says, before anything is built or sent.
 * @throws CliError with everything that is wrong, a sentence each
 */
export async function checkDeployments(
  gateway: GatewayClient,
  { edition }: Pick<SystemInfo, "edition">,
  deployments: readonly FunctionDeployment[],
): Promise<void> {
  const secrets = await secretsByNamespace(gateway, deployments);
  const timeouts = await queueTimeouts(gateway, deployments);
  const faults = deployments.flatMap((deployment) => {
    const there = secrets.get(deployment.namespace) ?? new Set<string>();
    const facts = { edition, secrets: there, queueTimeout: (queue: string) => timeouts.get(queue) };
    return deploymentFaults(deployment, facts).map(({ state, hint }) => ({
      sentence: `Cannot deploy "${deployment.service}": ${state}`,
      hint,
    }));
  });
  if (faults.length === 0) return;
  const hint = faults.find((fault) => fault.hint !== undefined)?.hint;
  throw new CliError(exitCode.failed, faults.map(({ sentence }) => sentence).join("\n"), { hint });
}

type Namespace = FunctionDeployment["namespace"];

async function secretsByNamespace(
  gateway: GatewayClient,
  deployments: readonly FunctionDeployment[],
): Promise<ReadonlyMap<Namespace, ReadonlySet<string>>> {
  const using = deployments.filter(({ secrets = [] }) => secrets.length > 0);
  const namespaces = [...new Set(using.map(({ namespace }) => namespace))];
  const listed = await resultOfEach(namespaces, async (namespace) => {
    const query = { namespace };
    const secrets = await readList(gateway, "/system/secrets", secretReply, { query });
    return [namespace, new Set(secrets.map(({ name }) => name))] as const;
  });
  return new Map(listed);
}

/** Of queues that a deployment depends on; one that the gateway does not show is left out. */
async function queueTimeouts(
  gateway: GatewayClient,
  deployments: readonly FunctionDeployment[],
): Promise<ReadonlyMap<string, number>> {
  const timeouts = new Map<string, number>();
  for (const queue of new Set(deployments.filter(needsLongQueue).map(queueOf))) {
    const path = `/system/queue/${encodeURIComponent(queue)}`;
    const shown = await readOne(gateway, path, queueReply).catch((err: unknown) => {
      if (err instanceof CliError && err.code !== undefined) return undefined;
      throw err;
    });
    const timeout = parseDuration(shown?.timeout ?? "");
    if (timeout !== undefined) timeouts.set(queue, timeout);
  }
  return timeouts;
}
