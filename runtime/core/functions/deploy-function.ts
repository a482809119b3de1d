import type { Edition } from "../../api/editions.ts";
import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { PlatformError } from "../../api/platform-error.ts";
import { checkDeployment, checkExecTimeout, checkTimeoutMax } from "./check-deployment.ts";
import { checkDeploymentEdition } from "./check-deployment-edition.ts";
import { desireFunction, type DesiredFunction } from "./desired-function.ts";
import { functionLimits, type PlatformTimes } from "./function-limits.ts";
import { checkLocalFolder, type FolderFault } from "./local-folder.ts";
import { confirmNamespace, type NamespaceParts } from "../namespaces/namespace-changes.ts";
import { resolveNamespace } from "../namespaces/namespace-rules.ts";
import type { FunctionStore } from "../ports/function-store.ts";
import type { QueueCatalog } from "../ports/queue-catalog.ts";
import type { SecretStore } from "../ports/secret-store.ts";
import { quote } from "../quote.ts";

/** What a deployment is checked against, and where it is stored. */
export interface DeployParts extends NamespaceParts, PlatformTimes {
  readonly functions: FunctionStore;
  /** Absent: no secret exists. */
  readonly secrets: SecretStore | undefined;
  /** Absent: queues have the timeout of synchronous calls. */
  readonly queues: QueueCatalog | undefined;
  readonly edition: Edition;
  /** Absent: the provider runs no function from a folder. */
  readonly folderFault?: FolderFault | undefined;
}

/**
 * Stores a deployment as the desired state: of a new function, or with `replace` also of an existing one.
 * @throws PlatformError in the order of contract §1.6: fields, edition, existence, state
 */
export async function deployFunction(
  deployment: FunctionDeployment,
  mode: "create" | "replace",
  parts: DeployParts,
  now: () => number = Date.now,
): Promise<DesiredFunction> {
  checkDeployment(deployment);
  await checkTimes(deployment, parts);
  const namespace = resolveNamespace(deployment.namespace, parts.namespaces, "validation_failed");
  checkDeploymentEdition(deployment, parts.edition);
  await checkLocalFolder(deployment, parts.folderFault);
  await checkSecretsExist(deployment, namespace, parts.secrets);

  const ref = { namespace, name: deployment.service };
  const written = await parts.functions.write(ref, (current) => {
    if (current !== undefined && mode === "create") {
      throw new PlatformError("function_exists", `Cannot create function "${deployment.service}": it already exists`);
    }
    return desireFunction(current, namespace, deployment, new Date(now()).toISOString());
  });
  await confirmNamespace(namespace, parts, () => parts.functions.remove(ref));
  return written;
}

async function checkTimes(deployment: FunctionDeployment, parts: DeployParts): Promise<void> {
  checkTimeoutMax(deployment, parts.timeoutMax);
  const { execTimeout, queue } = functionLimits(deployment);
  if (execTimeout === undefined) return;
  const declared = await parts.queues?.get(queue);
  checkExecTimeout(deployment, parts, declared?.timeout ?? parts.upstreamTimeout);
}

async function checkSecretsExist(
  { service, secrets: named = [] }: FunctionDeployment,
  namespace: string,
  secrets: SecretStore | undefined,
): Promise<void> {
  if (named.length === 0) return;
  const existing = new Set(await secrets?.list(namespace));
  const missing = named.find((name) => !existing.has(name));
  if (missing === undefined) return;
  throw new PlatformError(
    "validation_failed",
    `Cannot deploy function "${service}": secret ${quote(missing)} does not exist in namespace "${namespace}"`,
  );
}
