import { CustomResource } from "@pulumi/kubernetes/apiextensions/customResource.js";
import * as pulumi from "@pulumi/pulumi";

import { iamApiVersion, type IamKind } from "../../runtime/api/iam/iam-schemas.ts";
import { platformSettings } from "../../runtime/settings/platform-settings.ts";
import { specFault } from "../manifests/iam/iam-options.ts";
import { editionsWithIam } from "../manifests/iam/iam-rules.ts";
import { isLater } from "../open-texts.ts";
import { gateFor, type PlatformBelow } from "./cluster-args.ts";
import { millisecondsOf } from "./wait-timeouts.ts";

/** The platform of an issuer, policy or role. */
export interface IamObjectArgs {
  /** The platform of the same program: it is created first and determines the cluster. Absent if it exists already. */
  readonly platform?: PlatformBelow | undefined;
  /** The platform's namespace; that of `platform`, or its default, when absent. */
  readonly platformNamespace?: string | undefined;
  /**
   * Whether `pulumi up` waits until the platform acts on it, for a minute or the options' `customTimeouts`, and fails as
   * soon as it is refused; true when absent. Nothing is waited for without a platform or a provider.
   */
  readonly awaitReady?: boolean | undefined;
}

const usualTimeouts: pulumi.CustomTimeouts = { create: "1m", update: "1m" };

/** The namespace of the platform. */
export function platformNamespaceOf({ platform, platformNamespace }: IamObjectArgs): string {
  return platformNamespace ?? platform?.platformNamespace ?? platformSettings.platformNamespace.fallback ?? "weir";
}

/** Problems of a known spec are found before anything is created, those of one that comes later when it is known. */
export function checkedSpec(kind: IamKind, name: string, args: IamObjectArgs, spec: pulumi.Inputs): pulumi.Inputs {
  if (args.platform?.hasIam === false)
    throw new pulumi.RunError(
      `Cannot make ${kind} "${name}": the platform's edition has no identity and access; ${editionsWithIam} has`,
    );
  const given = Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== undefined));
  const check = (known: unknown): void => {
    const fault = specFault(kind, name, known);
    if (fault !== undefined) throw new pulumi.RunError(`Cannot make ${kind} "${name}": ${fault}`);
  };
  if (!holdsLater(given)) check(given);
  return pulumi.output(given).apply((known) => {
    check(known);
    return known;
  });
}

/** The object of a component, with a spec that was checked: known once the platform acts on it. */
export function iamObject(
  kind: IamKind,
  name: string,
  {
    args,
    objectName,
    spec,
  }: { readonly args: IamObjectArgs; readonly objectName: string; readonly spec: pulumi.Inputs },
  options: pulumi.ComponentResourceOptions & pulumi.CustomResourceOptions,
): pulumi.Output<unknown> {
  const metadata = { name: objectName, namespace: platformNamespaceOf(args) };
  const wanted = { apiVersion: iamApiVersion, kind, metadata, spec };
  const customTimeouts = options.customTimeouts ?? usualTimeouts;
  const object = new CustomResource(name, wanted, { ...options, customTimeouts });
  const gate = args.awaitReady === false ? undefined : gateFor(args, options);
  return gate === undefined
    ? object.metadata
    : pulumi.output(gate(object, wanted, millisecondsOf(customTimeouts))).apply(() => objectName);
}

function holdsLater(value: unknown): boolean {
  if (isLater(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsLater);
}
