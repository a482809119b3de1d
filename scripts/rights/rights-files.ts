import { stringify } from "yaml";

import { accessManifests } from "../../infra/manifests/rights/access.ts";
import type { Rule } from "../../infra/manifests/rights/account-rights.ts";
import type { KubernetesObject } from "../../infra/manifests/kubernetes-object.ts";
import { readPlatform } from "../../infra/manifests/read-platform.ts";
import { accounts } from "../../runtime/api/accounts.ts";
import { formattedFile, type WrittenFile } from "../written-file.ts";

interface Binding extends KubernetesObject {
  readonly roleRef: { readonly name: string };
  readonly subjects: readonly { readonly name: string; readonly namespace: string }[];
}

/** The rights of each account by place, one file each: those of the manifests, in a form that a person can review. */
export function rightsFiles(): Promise<WrittenFile[]> {
  return Promise.all(
    Object.values(accounts).map((account) => {
      const content = { "one namespace": rightsOf(account, "standard"), "many namespaces": rightsOf(account, "pro") };
      const text = `# Written by \`npm run rights\` from infra/manifests/rights/account-rights.ts.\n${stringify(content, { lineWidth: 0 })}`;
      return formattedFile(`test/unit/infra/golden/rights-${account}.yaml`, text);
    }),
  );
}

function rightsOf(account: string, edition: string): Readonly<Record<string, readonly string[]>> {
  const objects = accessManifests(readPlatform({ edition }));
  const bindings = objects.filter(
    (object): object is Binding => object.kind.endsWith("Binding") && "subjects" in object,
  );
  const own = bindings.filter(({ subjects }) => subjects.some(({ name }) => name === account));
  return Object.fromEntries(own.map((binding) => [placeOf(binding), linesOf(objects, binding.roleRef.name)]));
}

function placeOf({ kind, metadata: { namespace }, roleRef, subjects }: Binding): string {
  const place = kind === "ClusterRoleBinding" ? "the whole cluster" : `namespace ${namespace}`;
  const who = subjects.map(({ name, namespace: home }) => `${home}/${name}`).join(", ");
  return `${roleRef.name} for ${who} in ${place}`;
}

function linesOf(objects: readonly KubernetesObject[], role: string): string[] {
  const found = objects.find(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === role);
  return ((found?.["rules"] ?? []) as readonly Rule[]).flatMap(({ apiGroups, resources, verbs, resourceNames }) =>
    apiGroups.flatMap((group) =>
      resources.map((resource) => {
        const names = resourceNames === undefined ? "" : ` named ${resourceNames.join(", ")}`;
        return `${group === "" ? "core" : group} ${resource}${names}: ${verbs.join(" ")}`;
      }),
    ),
  );
}
