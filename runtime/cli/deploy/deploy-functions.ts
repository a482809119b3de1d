import { buildImages } from "../build/build-images.ts";
import type { BuilderName } from "../build/builders.ts";
import { CliError } from "../cli-error.ts";
import { readOne } from "../client/read-reply.ts";
import { infoReply } from "../client/reply-kinds.ts";
import type { CommandContext } from "../command-context.ts";
import type { ChosenFunctions } from "./plan/choose-functions.ts";
import { compareDeployments } from "./plan/compare-deployments.ts";
import { changeOf, hasToBeSent, type ComparedDeployment } from "./plan/compared-deployment.ts";
import { deliverDeployments, type PlannedDelivery } from "./rollout/deliver-deployments.ts";
import { deployTarget } from "./plan/deploy-target.ts";
import { sharedExit } from "./settle-each.ts";
import { showChanges, showDeployed } from "./show-deployments.ts";

/** Options that `up` and `deploy` share, as the parser names them. */
export interface DeployOptions {
  readonly namespace?: string;
  readonly registry?: string;
  readonly builder?: BuilderName;
  readonly quiet?: boolean;
  /** False with `--no-wait`. */
  readonly wait?: boolean;
  readonly dryRun?: boolean;
}

/**
 * Deploys functions. All are checked before anything is done. `up` then builds their images, and sends only what
 * differs from what is deployed; `deploy` builds nothing and sends everything.
 * @throws CliError when something is wrong, refused, or not ready in time; others are deployed all the same
 */
export async function deployFunctions(
  context: CommandContext,
  chosen: ChosenFunctions,
  options: DeployOptions,
  mode: "up" | "deploy",
): Promise<void> {
  const { output } = context;
  for (const sentence of chosen.left) output.warn(sentence);
  const gateway = await context.gateway();
  const info = await readOne(gateway, "/system/info", infoReply);
  const target = deployTarget(info, gateway.address);
  const compared = await compareDeployments(gateway, info, chosen, {
    target,
    namespaceFlag: options.namespace,
    namespace: await context.namespace(),
    registry: options.registry,
  });
  if (options.dryRun === true) return showChanges(output, compared);
  const deliveries =
    mode === "deploy"
      ? compared.map(({ deployment }): PlannedDelivery => ({ kind: "send", deployment }))
      : await builtDeliveries(context, compared, options, target !== "engine");
  const { statuses, errors } = await deliverDeployments(context, gateway, deliveries, options.wait !== false);
  await showDeployed(output, statuses, gateway.address, info.functionNamespace);
  // Their sentences stand on stderr, in their places.
  if (errors.length > 0) throw new CliError(sharedExit(errors), "");
}

/** Builds the images of functions that may have changed, and leaves out what is deployed already. */
async function builtDeliveries(
  context: CommandContext,
  compared: readonly ComparedDeployment[],
  { builder, quiet = false }: DeployOptions,
  push: boolean,
): Promise<readonly PlannedDelivery[]> {
  const builds = compared.flatMap((each) => (isThere(each) ? [] : (each.build ?? [])));
  const made = await buildImages(context, builds, { builder, push, quiet });
  return compared.map((each): PlannedDelivery => {
    const { before, deployment } = each;
    if (before === undefined || hasToBeSent(each, made.get(deployment.service)?.built === true))
      return { kind: "send", deployment };
    context.output.note(`${deployment.service}: no change`);
    return { kind: "there", deployment, status: before };
  });
}

/** Whether what is deployed was made of the present content. */
function isThere(compared: ComparedDeployment): boolean {
  return changeOf(compared) === "none" && compared.build?.isContentTag !== false;
}
