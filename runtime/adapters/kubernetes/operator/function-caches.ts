import { functionLabel } from "../../../api/names.ts";
import type { FunctionRef } from "../../../core/functions/function-ref.ts";
import type { KubeClient } from "../client/client.ts";
import { keptObject, keptWithOwners } from "./kept-object.ts";
import { kinds } from "../client/kinds.ts";
import type { KubeObject } from "../client/kube-types.ts";
import type { FunctionObject } from "../manifests/function-custom-resource.ts";
import type { ProfileSpec } from "../../../api/resources/profile-resource.ts";
import type { ObservedPod } from "../manifests/status/observed-objects.ts";
import { NamespacedWatch } from "../watch/namespaced-watch.ts";
import type { NamespaceSet } from "../watch/namespace-set.ts";
import { KubeWatch } from "../watch/watch.ts";
import { packDeployment, type KeptDeployment, type PackedDeployment } from "./packed-deployment.ts";

/** A Profile object. */
export interface ProfileObject extends KubeObject {
  readonly spec?: ProfileSpec;
}

/** Everything the operator knows of functions, kept up to date by watches. */
export interface FunctionCaches {
  readonly functions: NamespacedWatch<FunctionObject, FunctionObject>;
  readonly deployments: NamespacedWatch<KeptDeployment & KubeObject, PackedDeployment>;
  readonly services: NamespacedWatch<KubeObject, KubeObject>;
  readonly pods: NamespacedWatch<ObservedPod & KubeObject, ObservedPod>;
  /** Of the platform's namespace, by `namespace/name`. */
  readonly profiles: KubeWatch<ProfileObject, ProfileObject>;
  readonly synced: Promise<unknown>;
  close(): Promise<void>;
}

/** Starts the watches. `onFailure` is called when one of them fails. */
export function openFunctionCaches(
  client: KubeClient,
  namespaces: NamespaceSet,
  platformNamespace: string,
  onFailure: (err: unknown) => void,
): FunctionCaches {
  const ours = { labelSelector: functionLabel, onFailure };
  const keep = <T extends KubeObject>(object: T): T => keptWithOwners(object, client.fieldManager);
  const caches = {
    functions: new NamespacedWatch<FunctionObject, FunctionObject>(client, kinds.function, namespaces, {
      keep: keptObject,
      onFailure,
    }),
    deployments: new NamespacedWatch<KeptDeployment & KubeObject, PackedDeployment>(
      client,
      kinds.deployment,
      namespaces,
      { ...ours, keep: (deployment) => packDeployment(deployment, client.fieldManager) },
    ),
    services: new NamespacedWatch<KubeObject, KubeObject>(client, kinds.service, namespaces, {
      ...ours,
      keep,
    }),
    pods: new NamespacedWatch<ObservedPod & KubeObject, ObservedPod>(client, kinds.pod, namespaces, {
      ...ours,
      keep: observedPod,
    }),
    profiles: new KubeWatch<ProfileObject, ProfileObject>(client, kinds.profile, {
      namespace: platformNamespace,
      keep: keptObject,
      onFailure,
    }),
  };
  const all = Object.values(caches);
  return {
    ...caches,
    synced: Promise.all(all.map(({ synced }) => synced)),
    close: async () => {
      await Promise.all(all.map((each) => each.close()));
    },
  };
}

/** The function that an object with our label belongs to. */
export function functionOf({ metadata }: Pick<KubeObject, "metadata">): FunctionRef | undefined {
  const name = metadata.labels?.[functionLabel];
  return name === undefined ? undefined : { namespace: metadata.namespace ?? "", name };
}

function observedPod({ metadata, spec, status }: ObservedPod & KubeObject): ObservedPod {
  const { name, namespace, uid, creationTimestamp, deletionTimestamp, labels, annotations } = metadata;
  const containers = spec?.containers?.map((each) => ({
    name: each.name,
    ...(each.resources && { resources: each.resources }),
  }));
  return {
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
      ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    ...(containers === undefined ? {} : { spec: { containers } }),
    ...(status === undefined ? {} : { status: observedStatus(status) }),
  };
}

function observedStatus({
  phase,
  reason,
  message,
  conditions,
  containerStatuses,
}: NonNullable<ObservedPod["status"]>): NonNullable<ObservedPod["status"]> {
  return {
    ...(phase === undefined ? {} : { phase }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(containerStatuses === undefined ? {} : { containerStatuses }),
  };
}
