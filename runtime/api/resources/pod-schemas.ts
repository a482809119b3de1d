import Type, { type TSchema } from "typebox";

import { namePattern } from "../grammar.ts";

/** Parts of a pod that a Profile may set, as Kubernetes knows them, with bounds. */

const optional = Type.Optional;
const text = (description: string, maxLength = 253) => Type.String({ maxLength, description });
const words = (values: readonly [string, ...string[]], description: string) =>
  Type.Enum([...values], { type: "string", description });
const whole = (description: string, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, description });
const list = <T extends TSchema>(items: T, description: string, maxItems = 64) =>
  Type.Array(items, { maxItems, description });

const labelKey = Type.String({ pattern: namePattern.key, maxLength: 317, description: "Key of a label" });

/** Number, or share such as `25%`. */
const countOrShare = (description: string) =>
  Type.Unsafe<number | string>({
    anyOf: [{ type: "integer" }, { type: "string" }],
    pattern: "^(?:[0-9]{1,9}|[0-9]{1,3}%)$",
    maxLength: 10,
    minimum: 0,
    maximum: 1_000,
    "x-kubernetes-int-or-string": true,
    description,
  });

const Expression = Type.Object(
  {
    key: labelKey,
    operator: words(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"], "How key and values are compared"),
    values: optional(list(text("One value", 63), "Values to compare with")),
  },
  { description: "One requirement" },
);

const LabelSelector = Type.Object(
  {
    matchLabels: optional(
      Type.Unsafe<Readonly<Record<string, string>>>({
        type: "object",
        maxProperties: 64,
        additionalProperties: { type: "string", maxLength: 63, pattern: namePattern.labelValue },
        description: "Labels and their values",
      }),
    ),
    matchExpressions: optional(list(Expression, "Requirements that all hold")),
  },
  { description: "Which pods are meant" },
);

const NodeTerm = Type.Object(
  {
    matchExpressions: optional(list(Expression, "Requirements on labels of nodes")),
    matchFields: optional(list(Expression, "Requirements on fields of nodes")),
  },
  { description: "Requirements that all hold" },
);

const weight = whole("How much it counts", 1, 100);

const PodTerm = Type.Object(
  {
    labelSelector: optional(LabelSelector),
    namespaces: optional(list(text("A namespace", 63), "Namespaces of the pods")),
    namespaceSelector: optional(LabelSelector),
    topologyKey: labelKey,
    matchLabelKeys: optional(list(labelKey, "Labels whose values must be the same")),
    mismatchLabelKeys: optional(list(labelKey, "Labels whose values must differ")),
  },
  { description: "Pods, and where `near` ends" },
);

const podTerms = (about: string) =>
  Type.Object(
    {
      requiredDuringSchedulingIgnoredDuringExecution: optional(list(PodTerm, "What must hold")),
      preferredDuringSchedulingIgnoredDuringExecution: optional(
        list(Type.Object({ weight, podAffinityTerm: PodTerm }, { description: "One wish" }), "What is wished for"),
      ),
    },
    { description: about },
  );

/** Where pods may or shall run. */
export const Affinity = Type.Object(
  {
    nodeAffinity: optional(
      Type.Object(
        {
          requiredDuringSchedulingIgnoredDuringExecution: optional(
            Type.Object(
              { nodeSelectorTerms: Type.Array(NodeTerm, { minItems: 1, maxItems: 64, description: "One must hold" }) },
              { description: "What must hold" },
            ),
          ),
          preferredDuringSchedulingIgnoredDuringExecution: optional(
            list(Type.Object({ weight, preference: NodeTerm }, { description: "One wish" }), "What is wished for"),
          ),
        },
        { description: "On which nodes" },
      ),
    ),
    podAffinity: optional(podTerms("Near which pods")),
    podAntiAffinity: optional(podTerms("Away from which pods")),
  },
  { description: "Where replicas may or shall run" },
);

/** A taint of nodes that does not keep pods away. */
export const Toleration = Type.Object(
  {
    key: optional(labelKey),
    operator: optional(words(["Exists", "Equal"], "How the value is compared")),
    value: optional(text("Value of the taint", 63)),
    effect: optional(words(["NoSchedule", "PreferNoSchedule", "NoExecute"], "Effect of the taint; all when absent")),
    tolerationSeconds: optional(Type.Integer({ description: "How long a pod stays; for ever when absent" })),
  },
  { description: "A taint that does not keep replicas away" },
);

/** How pods are spread. */
export const TopologySpreadConstraint = Type.Object(
  {
    maxSkew: whole("Most that places may differ by", 1),
    topologyKey: labelKey,
    whenUnsatisfiable: words(["DoNotSchedule", "ScheduleAnyway"], "What happens when it cannot be kept"),
    labelSelector: optional(LabelSelector),
    minDomains: optional(whole("Fewest places", 1)),
    nodeAffinityPolicy: optional(words(["Honor", "Ignore"], "Whether nodes that affinity leaves out count")),
    nodeTaintsPolicy: optional(words(["Honor", "Ignore"], "Whether nodes with taints count")),
    matchLabelKeys: optional(list(labelKey, "Labels whose values must be the same")),
  },
  { description: "How replicas are spread" },
);

const id = (description: string) => Type.Integer({ minimum: 0, maximum: 2_147_483_647, description });

const profileOf = (description: string) =>
  Type.Object(
    {
      type: words(["RuntimeDefault", "Localhost", "Unconfined"], "Kind of the profile"),
      localhostProfile: optional(text("File on the node", 4_096)),
    },
    { description },
  );

/** As whom pods run. */
export const PodSecurityContext = Type.Object(
  {
    runAsUser: optional(id("User of the process")),
    runAsGroup: optional(id("Group of the process")),
    runAsNonRoot: optional(Type.Boolean({ description: "Whether root is refused" })),
    fsGroup: optional(id("Group that owns volumes")),
    fsGroupChangePolicy: optional(words(["OnRootMismatch", "Always"], "When owners in volumes are changed")),
    supplementalGroups: optional(list(id("A group"), "Further groups of the process")),
    supplementalGroupsPolicy: optional(words(["Merge", "Strict"], "Whether groups of the image count")),
    seccompProfile: optional(profileOf("Which system calls are allowed")),
    appArmorProfile: optional(profileOf("AppArmor profile")),
    seLinuxOptions: optional(
      Type.Object(
        {
          user: optional(text("User")),
          role: optional(text("Role")),
          type: optional(text("Type")),
          level: optional(text("Level")),
        },
        { description: "SELinux label" },
      ),
    ),
    sysctls: optional(
      list(
        Type.Object({ name: text("Name"), value: text("Value", 1_024) }, { description: "One parameter" }),
        "Parameters of the kernel",
      ),
    ),
  },
  { description: "As whom replicas run" },
);

/** How names are looked up. */
export const DnsConfig = Type.Object(
  {
    nameservers: optional(list(text("Address"), "Addresses of name servers", 3)),
    searches: optional(list(text("Domain"), "Domains that are searched", 32)),
    options: optional(
      list(
        Type.Object({ name: text("Name"), value: optional(text("Value")) }, { description: "One option" }),
        "Options of the resolver",
      ),
    ),
  },
  { description: "How names are looked up" },
);

/** How replicas are replaced. */
export const DeploymentStrategy = Type.Object(
  {
    type: optional(words(["RollingUpdate", "Recreate"], "One after the other, or all at once")),
    rollingUpdate: optional(
      Type.Object(
        {
          maxSurge: optional(countOrShare("Most replicas above the wanted number")),
          maxUnavailable: optional(countOrShare("Most replicas that may be missing")),
        },
        { description: "Bounds of a rolling update" },
      ),
    ),
  },
  { description: "How replicas are replaced" },
);
