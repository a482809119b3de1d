import {
  accounts,
  accountsInFunctionNamespaces,
  clusterRoleName,
  type Account,
} from "../../../runtime/api/accounts.ts";
import { namespaceMarker, objectLabel } from "../../../runtime/api/names.ts";
import type { KubernetesObject } from "../kubernetes-object.ts";
import { labelsOf } from "../names.ts";
import type { Platform } from "../platform.ts";

const admission = "admissionregistration.k8s.io";
/** Prefix of the labels that set the pod security of a namespace. */
const podSecurity = "pod-security.kubernetes.io/";

/** An admission policy for what an account of the platform does. */
interface Guard {
  readonly name: string;
  /** The account whose requests it checks. */
  readonly account: Account | "all";
  readonly resources: readonly {
    readonly group: string;
    readonly version: string;
    readonly names: readonly string[];
  }[];
  readonly operations: readonly string[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
}

/**
 * Functions can be created only where this or another platform reconciles them: elsewhere, waiting for one would never
 * end. Existing ones elsewhere can be deleted, but their spec cannot be changed.
 */
export function functionGuard({ platformNamespace, functionNamespace, manyNamespaces }: Platform): KubernetesObject[] {
  const inOurs = `request.namespace == '${functionNamespace}'`;
  const places = manyNamespaces ? `${inOurs} || ${marked("namespaceObject")}` : inOurs;
  const { key, value } = namespaceMarker;
  return policyAndBinding(
    { platformNamespace },
    {
      name: `${platformNamespace}-function-namespaces`,
      account: "all",
      resources: [{ group: "service.com", version: "v1", names: ["functions"] }],
      operations: ["CREATE", "UPDATE"],
      validations: [
        {
          expression: `${places} || ${ofAnother("namespaceObject", platformNamespace)} || (request.operation == 'UPDATE' && object.spec == oldObject.spec)`,
          message: manyNamespaces
            ? `the namespace is not one for functions: it has no label ${key}=${value}`
            : `the namespace is not one for functions: in this edition that is "${functionNamespace}" alone`,
        },
      ],
    },
  );
}

/**
 * Who makes a Profile or a rule of identity and access where no platform reads it is warned. It is not refused: a
 * platform may not decide about a namespace of another one, which may be known by nothing.
 */
export function ruleGuard({ platformNamespace }: Platform): KubernetesObject[] {
  return policyAndBinding(
    { platformNamespace },
    {
      name: `${platformNamespace}-rule-namespaces`,
      account: "all",
      resources: [
        { group: "service.com", version: "v1", names: ["profiles"] },
        { group: "iam.service.com", version: "v1", names: ["jwtissuers", "policies", "roles"] },
      ],
      operations: ["CREATE", "UPDATE"],
      validations: [
        {
          expression: `request.namespace == '${platformNamespace}' || ${ofAnother("namespaceObject", platformNamespace)} || (request.operation == 'UPDATE' && object.spec == oldObject.spec)`,
          message: `it has no effect here: objects of this kind are read in namespace "${platformNamespace}" alone`,
        },
      ],
    },
    "Warn",
  );
}

/**
 * Restricts cluster-wide rights to namespaces with the marker that belong to no other platform. The gateway creates,
 * changes and deletes only those, and never changes their pod security; the operator acts only in those, and binds only
 * accounts of the platform there.
 */
export function namespaceGuards(platform: Platform): KubernetesObject[] {
  return [gatewayGuard(platform), operatorGuard(platform), bindingGuard(platform)].flatMap((guard) =>
    policyAndBinding(platform, guard),
  );
}

function gatewayGuard({ platformNamespace }: Platform): Guard {
  const name = "request.name";
  return {
    name: `${platformNamespace}-gateway-namespaces`,
    account: accounts.gateway,
    resources: [{ group: "", version: "v1", names: ["namespaces"] }],
    operations: ["CREATE", "UPDATE", "DELETE"],
    validations: [
      {
        expression: `request.operation == 'DELETE' || ${ours("object", platformNamespace)}`,
        message: "the gateway makes namespaces with the marker of Weir, of its platform, only",
      },
      {
        expression: `request.operation == 'CREATE' || ${ours("oldObject", platformNamespace)}`,
        message: "the gateway changes and deletes namespaces with the marker of Weir, of its platform, only",
      },
      {
        expression: `request.operation != 'CREATE' || (has(object.metadata.labels) && '${podSecurity}enforce' in object.metadata.labels && ${strictLevels("object")})`,
        message: "the gateway makes namespaces of the pod security level restricted only",
      },
      {
        expression: `request.operation != 'UPDATE' || (${keepsLevels("oldObject", "object")} && ${keepsLevels("object", "oldObject")})`,
        message: "the gateway leaves pod security levels of namespaces as they are",
      },
      {
        expression: `${name} != '${platformNamespace}' && ${name} != 'default' && !${name}.startsWith('kube-')`,
        message: "the namespace is reserved",
      },
    ],
  };
}

function operatorGuard({ platformNamespace, functionNamespace }: Platform): Guard {
  return {
    name: `${platformNamespace}-operator-objects`,
    account: accounts.operator,
    resources: [
      { group: "rbac.authorization.k8s.io", version: "v1", names: ["rolebindings"] },
      { group: "networking.k8s.io", version: "v1", names: ["networkpolicies"] },
      { group: "", version: "v1", names: ["resourcequotas", "limitranges"] },
    ],
    operations: ["CREATE", "UPDATE", "DELETE"],
    validations: [
      {
        expression: `request.namespace == '${functionNamespace}' || (namespaceObject != null && ${ours("namespaceObject", platformNamespace)})`,
        message: "the operator acts in namespaces with the marker of Weir, of its platform, only",
      },
    ],
  };
}

function bindingGuard({ platformNamespace }: Platform): Guard {
  const roles = accountsInFunctionNamespaces.map((account) => clusterRoleName(platformNamespace, account, "functions"));
  const onlyOurs = `object.subjects.all(each, each.kind == 'ServiceAccount' && each.namespace == '${platformNamespace}')`;
  return {
    name: `${platformNamespace}-operator-bindings`,
    account: accounts.operator,
    resources: [{ group: "rbac.authorization.k8s.io", version: "v1", names: ["rolebindings"] }],
    operations: ["CREATE", "UPDATE"],
    validations: [
      {
        expression: `!has(object.subjects) || ${onlyOurs}`,
        message: "the operator binds accounts of the platform only",
      },
      {
        expression: `object.roleRef.kind == 'ClusterRole' && object.roleRef.name in ${listOf(roles)}`,
        message: "the operator binds the roles for namespaces of functions only",
      },
    ],
  };
}

/** CEL: a list of texts, which must not contain quotes. */
function listOf(texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(", ")}]`;
}

/** CEL: whether all pod security labels of a namespace are `restricted`, in its latest version. */
function strictLevels(object: string): string {
  const labels = `${object}.metadata.labels`;
  return `${labels}.all(key, !key.startsWith('${podSecurity}') || ${labels}[key] == (key.endsWith('-version') ? 'latest' : 'restricted'))`;
}

/** CEL: whether each pod security label of `before` is in `after` with the same value. */
function keepsLevels(before: string, after: string): string {
  const [old, current] = [`${before}.metadata.labels`, `${after}.metadata.labels`];
  const kept = `(has(${current}) && key in ${current} && ${current}[key] == ${old}[key])`;
  return `(!has(${old}) || ${old}.all(key, !key.startsWith('${podSecurity}') || ${kept}))`;
}

/** CEL: whether a namespace has the marker, and belongs to no other platform. */
function ours(object: string, platformNamespace: string): string {
  const labels = `${object}.metadata.labels`;
  const key = objectLabel.platform;
  return `(${marked(object)} && (!has(${labels}) || !('${key}' in ${labels}) || ${labels}['${key}'] == '${platformNamespace}'))`;
}

/** CEL: whether a namespace belongs to another platform. */
function ofAnother(object: string, platformNamespace: string): string {
  const labels = `${object}.metadata.labels`;
  const key = objectLabel.platform;
  return `(has(${labels}) && '${key}' in ${labels} && ${labels}['${key}'] != '${platformNamespace}')`;
}

/** CEL: whether an object has our marker or the one of `foreignKey`, as label or annotation. */
function marked(object: string): string {
  const { key, value, foreignKey } = namespaceMarker;
  const inside = (field: string) =>
    `(has(${field}) && (('${key}' in ${field} && ${field}['${key}'] == '${value}') || '${foreignKey}' in ${field}))`;
  return `(${inside(`${object}.metadata.labels`)} || ${inside(`${object}.metadata.annotations`)})`;
}

function policyAndBinding(
  { platformNamespace }: Pick<Platform, "platformNamespace">,
  guard: Guard,
  action: "Deny" | "Warn" = "Deny",
): KubernetesObject[] {
  const metadata = { name: guard.name, labels: labelsOf(guard.account === "all" ? accounts.operator : guard.account) };
  const user = `system:serviceaccount:${platformNamespace}:${guard.account}`;
  const byAccount = [{ name: "account", expression: `request.userInfo.username == '${user}'` }];
  return [
    {
      apiVersion: `${admission}/v1`,
      kind: "ValidatingAdmissionPolicy",
      metadata,
      spec: {
        failurePolicy: action === "Deny" ? "Fail" : "Ignore",
        matchConstraints: {
          resourceRules: guard.resources.map(({ group, version, names }) => ({
            apiGroups: [group],
            apiVersions: [version],
            operations: guard.operations,
            resources: names,
          })),
        },
        ...(guard.account === "all" ? {} : { matchConditions: byAccount }),
        validations: guard.validations.map((validation) => ({ ...validation, reason: "Forbidden" })),
      },
    },
    {
      apiVersion: `${admission}/v1`,
      kind: "ValidatingAdmissionPolicyBinding",
      metadata,
      spec: { policyName: guard.name, validationActions: [action] },
    },
  ];
}
