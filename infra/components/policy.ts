import * as pulumi from "@pulumi/pulumi";

import type { PolicySpec } from "../../runtime/api/resources/iam-resources.ts";
import { dependenciesOf, onPlatform } from "./cluster-args.ts";
import { checkedSpec, iamObject, type IamObjectArgs } from "./iam-object.ts";

/** The fields of a Policy object. */
export interface PolicyArgs extends IamObjectArgs {
  /** Name of the policy; that of the resource when absent. */
  readonly policyName?: string | undefined;
  readonly statement: pulumi.Input<pulumi.Input<PolicySpec["statement"][number]>[]>;
}

/** What is allowed to those whose roles grant it. */
export class Policy extends pulumi.ComponentResource {
  /** For `policy` of a role, which then depends on it. */
  readonly policyName: pulumi.Output<string>;

  constructor(name: string, args: PolicyArgs, options: pulumi.ComponentResourceOptions = {}) {
    const placed = onPlatform(args, options);
    const { policyName = name, statement } = args;
    const spec = checkedSpec("Policy", policyName, args, { statement });
    super("weir:iam:Policy", name, {}, placed);
    const child = {
      parent: this,
      dependsOn: dependenciesOf(placed),
      ...(options.customTimeouts && { customTimeouts: options.customTimeouts }),
    };
    const done = iamObject("Policy", name, { args, objectName: policyName, spec }, child);
    this.policyName = done.apply(() => policyName);
    this.registerOutputs({ policyName: this.policyName });
  }
}
