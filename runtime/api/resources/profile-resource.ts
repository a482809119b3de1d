import Type, { type Static } from "typebox";

import type { AsRead } from "./as-read.ts";
import type { CelRule } from "./cel-rules.ts";
import {
  AffinitySchema,
  DeploymentStrategySchema,
  DnsConfigSchema,
  PodSecurityContextSchema,
  TolerationSchema,
  TopologySpreadConstraintSchema,
} from "./pod-schemas.ts";
import { requestsCelRule, resourceAmounts } from "./resource-amounts.ts";
import { secretName } from "../schemas/name-schemas.ts";

/** Pod settings beyond those of the function, named as in Kubernetes (contract §2). */
export const ProfileSpec = Type.Object(
  {
    tolerations: Type.Optional(
      Type.Array(TolerationSchema, { maxItems: 64, description: "Taints that do not keep replicas away" }),
    ),
    runtimeClassName: Type.Optional(secretName("Runtime class of the pods")),
    podSecurityContext: Type.Optional(PodSecurityContextSchema),
    affinity: Type.Optional(AffinitySchema),
    topologySpreadConstraints: Type.Optional(
      Type.Array(TopologySpreadConstraintSchema, { maxItems: 32, description: "How replicas are spread" }),
    ),
    dnsPolicy: Type.Optional(
      Type.Enum(["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"], {
        type: "string",
        description: "Which resolvers look up names",
      }),
    ),
    dnsConfig: Type.Optional(DnsConfigSchema),
    resources: Type.Optional(
      Type.Object(
        {
          limits: Type.Optional(resourceAmounts("Most that a replica may use")),
          requests: Type.Optional(resourceAmounts("What is reserved for a replica")),
        },
        {
          description: "Amounts for functions that set none",
          "x-kubernetes-validations": [requestsCelRule] satisfies CelRule[],
        },
      ),
    ),
    priorityClassName: Type.Optional(secretName("Priority class of the pods")),
    strategy: Type.Optional(DeploymentStrategySchema),
  },
  {
    description: "Settings of replicas beyond those of their function",
    "x-kubernetes-validations": [
      {
        rule: "!has(self.dnsPolicy) || self.dnsPolicy != 'None' || (has(self.dnsConfig) && has(self.dnsConfig.nameservers) && size(self.dnsConfig.nameservers) > 0)",
        message: "expected dnsConfig.nameservers with the policy None",
        fieldPath: ".dnsPolicy",
      },
      {
        rule: "!has(self.strategy) || !has(self.strategy.rollingUpdate) || !has(self.strategy.type) || self.strategy.type == 'RollingUpdate'",
        message: "expected no rollingUpdate with the type Recreate",
        fieldPath: ".strategy",
      },
    ] satisfies CelRule[],
  },
);
export type ProfileSpec = AsRead<Static<typeof ProfileSpec>>;
