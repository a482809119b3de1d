import Type, { type TSchema } from "typebox";

import { namePattern } from "../grammar.ts";

/** Parts of a pod that a Profile may set, named as in Kubernetes, with bounds. */

const optional = Type.Optional;
const text = (description: string, maxLength = 253) => Type.String({ maxLength, description });
const words = (values: readonly [string, ...string[]], description: string) =>
  Type.Enum([...values], { type: "string", description });
const whole = (description: string, minimum = 0, maximum = 2_147_483_647) =>
  Type.Integer({ minimum, maximum, description });
const list = <T extends TSchema>(items: T, description: string, maxItems = 64) =>
  Type.Array(items, { maxItems, description });

const labelKey = Type.String({ pattern: namePattern.key, maxLength: 317, description: "Key of a label" });

/** A number, or a percentage such as `25%`. */
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
  { description: "What is selected, by labels" },
);

const NodeTerm = Type.Object(
  {
    matchExpressions: optional(list(Expression, "Requirements on labels of nodes")),
    matchFields: optional(list(Expression, "Requirements on fields of nodes")),
  },
  { description: "Requirements that all hold" },
);

const weight = whole("Weight of the preference", 1, 100);

const PodTerm = Type.Object(
  {
    labelSelector: optional(LabelSelector),
    namespaces: optional(list(text("A namespace", 63), "Namespaces of the pods")),
    namespaceSelector: optional(LabelSelector),
    topologyKey: labelKey,
    matchLabelKeys: optional(list(labelKey, "Labels whose values must be the same")),
    mismatchLabelKeys: optional(list(labelKey, "Labels whose values must differ")),
  },
  { description: "The pods, and the topology within which they count as near" },
);

const podTerms = (about: string) =>
  Type.Object(
    {
      requiredDuringSchedulingIgnoredDuringExecution: optional(list(PodTerm, "Terms that must all be met")),
      preferredDuringSchedulingIgnoredDuringExecution: optional(
        list(Type.Object({ weight, podAffinityTerm: PodTerm }, { description: "One preference" }), "Preferences"),
      ),
    },
    { description: about },
  );

/** Where pods must or should run. */
export const AffinitySchema = Type.Object(
  {
    nodeAffinity: optional(
      Type.Object(
        {
          requiredDuringSchedulingIgnoredDuringExecution: optional(
            Type.Object(
              {
                nodeSelectorTerms: Type.Array(NodeTerm, {
                  minItems: 1,
                  maxItems: 64,
                  description: "Terms, of which one must be met",
                }),
              },
              { description: "What must be met" },
            ),
          ),
          preferredDuringSchedulingIgnoredDuringExecution: optional(
            list(Type.Object({ weight, preference: NodeTerm }, { description: "One preference" }), "Preferences"),
          ),
        },
        { description: "On which nodes" },
      ),
    ),
    podAffinity: optional(podTerms("Near which pods")),
    podAntiAffinity: optional(podTerms("Away from which pods")),
  },
  { description: "Where replicas must or should run" },
);

/** A taint of nodes that does not keep pods away. */
export const TolerationSchema = Type.Object(
  {
    key: optional(labelKey),
    operator: optional(words(["Exists", "Equal"], "How the value is compared")),
    value: optional(text("Value of the taint", 63)),
    effect: optional(words(["NoSchedule", "PreferNoSchedule", "NoExecute"], "Effect of the taint; all when absent")),
    tolerationSeconds: optional(
      Type.Integer({ description: "How long a pod stays, in seconds; without limit when absent" }),
    ),
  },
  { description: "A taint that does not keep replicas away" },
);

/** How pods are spread. */
export const TopologySpreadConstraintSchema = Type.Object(
  {
    maxSkew: whole("Largest difference in the number of pods between two domains", 1),
    topologyKey: labelKey,
    whenUnsatisfiable: words(["DoNotSchedule", "ScheduleAnyway"], "What happens when the constraint cannot be met"),
    labelSelector: optional(LabelSelector),
    minDomains: optional(whole("Smallest number of domains", 1)),
    nodeAffinityPolicy: optional(words(["Honor", "Ignore"], "Whether nodes that node affinity excludes are left out")),
    nodeTaintsPolicy: optional(
      words(["Honor", "Ignore"], "Whether nodes with taints that are not tolerated are left out"),
    ),
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

/** Users, groups and security options of pods. */
export const PodSecurityContextSchema = Type.Object(
  {
    runAsUser: optional(id("User of the process")),
    runAsGroup: optional(id("Group of the process")),
    runAsNonRoot: optional(Type.Boolean({ description: "Whether root is refused" })),
    fsGroup: optional(id("Group that owns volumes")),
    fsGroupChangePolicy: optional(words(["OnRootMismatch", "Always"], "When the ownership of volumes is changed")),
    supplementalGroups: optional(list(id("A group"), "Further groups of the process")),
    supplementalGroupsPolicy: optional(words(["Merge", "Strict"], "Whether groups defined in the image are added")),
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
        "Kernel parameters",
      ),
    ),
  },
  { description: "Users, groups and security options of replicas" },
);

/** How names are looked up. */
export const DnsConfigSchema = Type.Object(
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
export const DeploymentStrategySchema = Type.Object(
  {
    type: optional(words(["RollingUpdate", "Recreate"], "Whether replicas are replaced gradually or all at once")),
    rollingUpdate: optional(
      Type.Object(
        {
          maxSurge: optional(countOrShare("Most replicas above the desired number")),
          maxUnavailable: optional(countOrShare("Most replicas that may be unavailable")),
        },
        { description: "Bounds of a rolling update" },
      ),
    ),
  },
  { description: "How replicas are replaced" },
);
