import type { DesiredFunction } from "../../../core/functions/desired-function.ts";
import { mergeProfiles } from "./pods/merge-profiles.ts";
import { functionLabels, functionSelector, objectName, ownerReference } from "./object-names.ts";
import type { DeploymentObject, DeploymentStrategy } from "./object-types.ts";
import { podTemplate, type FunctionContext } from "./pods/pod-template.ts";

/** A new replica is ready before an old one goes. */
const strategy: DeploymentStrategy = { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } };

/**
 * The Deployment that runs a function.
 * @throws PlatformError `validation_failed` for what `functionFault` finds
 */
export function functionDeployment(wanted: DesiredFunction, context: FunctionContext): DeploymentObject {
  const { name, namespace, replicas } = wanted;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name: objectName(name),
      namespace,
      labels: functionLabels(name),
      ownerReferences: [ownerReference(context.owner)],
    },
    spec: {
      replicas,
      // Nothing rolls back: the Function object alone says what is wanted.
      revisionHistoryLimit: 1,
      selector: { matchLabels: functionSelector(name) },
      strategy: mergeProfiles(context.profiles).strategy ?? strategy,
      template: podTemplate(wanted, context),
    },
  };
}
