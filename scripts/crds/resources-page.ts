import { stringify } from "yaml";

import { definitionName } from "../../infra/manifests/definitions/custom-resource-definitions.ts";
import { customResources, type CustomResource } from "../../runtime/api/resources/custom-resources.ts";
import { annotationRules, expectedOf, labelRules, type KeyRules } from "../../runtime/api/schemas/key-rules.ts";
import { keyPrefixes } from "../../runtime/api/names.ts";
import { manifestExamples } from "./examples.ts";
import { fieldRows } from "./field-rows.ts";

const introduction = `# Custom resources

Written by \`npm run crds\` from \`runtime/api\`; change it there.

On [Kubernetes](kubernetes.md), functions and what belongs to them are objects of six kinds, as an alternative to the REST API: both write the same objects. The definitions
are in [\`infra/crds\`](../../infra/crds) and need Kubernetes 1.30 or newer.

\`\`\`sh
kubectl apply --server-side -f infra/crds
kubectl get weir
kubectl explain function.spec
\`\`\`

\`kubectl get weir\` lists objects of all kinds. Other kinds are also called \`Secret\`, \`Role\` and \`Policy\`: use
\`kubectl get secrets.service.com\`, \`roles.iam.service.com\`, \`policies.iam.service.com\`.

The API server refuses what the REST API refuses, and reports which field breaks which rule:

\`\`\`text
The Function "hello" is invalid: spec.labels: Invalid value: "object": com.service.scale.min: expected at most com.service.scale.max
\`\`\`

Unknown fields are refused for \`kubectl\`; other clients request that with \`fieldValidation=Strict\`. Otherwise Kubernetes drops them
and only warns.

`;

const notesOf: Readonly<Record<keyof typeof customResources, string>> = {
  function: `The name of the object is that of the function. \`kubectl get fn\` shows Ready, its reason, desired and ready replicas, and the image;
\`kubectl scale fn/hello --replicas=3\` scales it, up to \`com.service.scale.max\`, but unlike
\`/system/scale-function\` there is no hold: the autoscaler continues from there. Leave \`replicas\` out of what you
apply: whatever scales the function writes it, and while your manifest owns the field, the autoscaler does not scale the function
([another autoscaler](../scaling.md#by-another-autoscaler)). When \`com.service.scale.max\` is lowered below \`replicas\`, the object is accepted, and
whatever scales the function follows.
`,
  profile:
    "Profiles belong in the namespace of the platform. The values of the fields are those of a pod in Kubernetes.\n",
  secret: `It names a core secret of the same namespace and its keys, never a value. Functions list the name of the object in \`secrets\`.
`,
  jwtIssuer: "It belongs in the namespace of the platform.\n",
  policy: "It belongs in the namespace of the platform.\n",
  role: "It belongs in the namespace of the platform.\n",
};

const operatorOnly = `
## What only the operator can check

The API server checks each object alone, and counts characters. What it accepts may still not work; the conditions of the object report that.


| Object | What is checked later |
|---|---|
| Function | a secret, a profile or a service account that does not exist; a queue that the edition does not have or that is not declared; \`com.service.timeout\` above \`timeout_max\`, \`exec_timeout\` above the time limit of calls; an image that cannot be pulled |
| Function | \`environment\` or \`annotations\` of at most 262144 characters that are more bytes than that |
| Profile | what is below the level \`baseline\` of pod security; parts of a pod that contradict each other |
| Secret | a core secret or a key of it that does not exist |
| Policy, Role | operators and claims in \`condition\`, and values in it that are neither a text nor a list of texts; policies that do not exist |

JwtIssuer, Policy and Role are only checked yet: \`Accepted\` says whether they can be used, \`Enforced\` is \`False\`.
`;

/** The text of `docs/reference/custom-resources.md`, not formatted yet. */
export function resourcesPage(): string {
  const sections = Object.entries<CustomResource>(customResources).map(([key, resource]) =>
    section(key as keyof typeof customResources, resource),
  );
  return [introduction, ...sections, operatorOnly].join("");
}

function section(key: keyof typeof customResources, resource: CustomResource): string {
  const { kind, group, version, about, spec, status, rules } = resource;
  return [
    `## ${kind}\n\n${about}: \`${group}/${version}\`, \`${definitionName(resource)}\`.\n\n${notesOf[key]}\n`,
    `\`\`\`yaml\n${stringify(manifestExamples[key])}\`\`\`\n\n`,
    table(fieldRows(spec, key === "profile" ? 1 : 4), ["Field of `spec`", "Kind", "Limits", "Meaning"]),
    rules.length === 0
      ? ""
      : `\n${rules.map(({ fieldPath, message }) => `- \`${fieldPath?.slice(1)}\`: ${message}`).join("\n")}\n`,
    key === "function" ? keysOf("labels", labelRules) + keysOf("annotations", annotationRules) : "",
    `\nStatus: ${Object.keys(status.properties)
      .map((name) => `\`${name}\``)
      .join(", ")}; conditions ${conditionTypes(status)}.\n\n`,
  ].join("");
}

function keysOf(map: string, rules: KeyRules): string {
  const [ours, theirs] = keyPrefixes;
  const rows = Object.entries(rules).map(([name, rule]) => [`\`${name}\``, expectedOf(rule)]);
  return `\nKeys in \`${map}\` that the platform reads, with the prefix \`${ours}\` or \`${theirs}\`:\n\n${table(rows, ["Key", "Value"])}`;
}

function conditionTypes(status: object): string {
  const { properties } = JSON.parse(JSON.stringify(status)) as {
    properties: { conditions: { items: { properties: { type: { enum: readonly string[] } } } } };
  };
  return properties.conditions.items.properties.type.enum.map((type) => `\`${type}\``).join(", ");
}

function table(rows: readonly (readonly string[])[], columns: readonly string[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(columns) + line(columns.map(() => "---")) + rows.map(line).join("");
}
