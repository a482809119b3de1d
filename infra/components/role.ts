import * as pulumi from "@pulumi/pulumi";

import type { RoleSpec } from "../../runtime/api/resources/iam-resources.ts";
import { dependenciesOf, onPlatform } from "./cluster-args.ts";
import { checkedSpec, iamObject, type IamObjectArgs } from "./iam-object.ts";

/** The fields of a Role object: without principal and condition, it is granted to every subject of trusted issuers. */
export interface RoleArgs extends IamObjectArgs {
  /** Name of the role; that of the resource when absent. */
  readonly roleName?: string | undefined;
  /** Names of policies, such as `policyName` of a `Policy`. */
  readonly policy: pulumi.Input<pulumi.Input<string>[]>;
  readonly principal?: pulumi.Input<NonNullable<RoleSpec["principal"]>> | undefined;
  readonly condition?: pulumi.Input<NonNullable<RoleSpec["condition"]>> | undefined;
  /** Whether it only logs what it would allow. */
  readonly mode?: pulumi.Input<NonNullable<RoleSpec["mode"]>> | undefined;
}

/** Who is granted which policies. */
export class Role extends pulumi.ComponentResource {
  readonly roleName: pulumi.Output<string>;

  constructor(name: string, args: RoleArgs, options: pulumi.ComponentResourceOptions = {}) {
    const placed = onPlatform(args, options);
    const { roleName = name, policy, principal, condition, mode } = args;
    const spec = checkedSpec("Role", roleName, args, { policy, principal, condition, mode });
    super("weir:iam:Role", name, {}, placed);
    const child = {
      parent: this,
      dependsOn: dependenciesOf(placed),
      ...(options.customTimeouts && { customTimeouts: options.customTimeouts }),
    };
    const done = iamObject("Role", name, { args, objectName: roleName, spec }, child);
    this.roleName = done.apply(() => roleName);
    this.registerOutputs({ roleName: this.roleName });
  }
}
