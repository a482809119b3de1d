import type { TObject } from "typebox";

import type { CelRule } from "./cel-rules.ts";
import { FunctionObjectStatus, FunctionSpec, functionObjectRules } from "./function-resource.ts";
import { namePattern } from "../grammar.ts";
import { JwtIssuerSpec, PolicySpec, RoleSpec } from "./iam-resources.ts";
import { ProfileSpec } from "./profile-resource.ts";
import { IamObjectStatus, ProfileObjectStatus } from "./resource-conditions.ts";
import { SecretObjectStatus, SecretSpec } from "./secret-resource.ts";

/** A column of `kubectl get`. */
export interface ShownColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "date";
  readonly jsonPath: string;
}

/** A kind of object that Weir adds to Kubernetes. */
export interface CustomResource {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly about: string;
  readonly spec: TObject;
  readonly status: TObject;
  /** The rule for names of objects, where it is narrower than that of Kubernetes. */
  readonly names?: { readonly pattern: string; readonly maxLength: number };
  /** Rules about the whole object. */
  readonly rules: readonly CelRule[];
  readonly columns: readonly ShownColumn[];
  /** Whether `spec.replicas`, `status.replicas` and `status.selector` serve `kubectl scale` and autoscalers. */
  readonly scales: boolean;
}

const condition = (type: string): ShownColumn => ({
  name: type,
  type: "string",
  jsonPath: `.status.conditions[?(@.type=="${type}")].status`,
});
const age: ShownColumn = { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" };

const service = { group: "service.com", version: "v1", shortNames: [], rules: [], scales: false } as const;
const iam = {
  ...service,
  group: "iam.service.com",
  status: IamObjectStatus,
  columns: [condition("Ready"), condition("Accepted"), condition("Enforced"), age],
} as const;

/** The six kinds, in the order of the documents. */
export const customResources = {
  function: {
    ...service,
    kind: "Function",
    plural: "functions",
    singular: "function",
    shortNames: ["fn"],
    about: "A function: an image, run with as many replicas as its calls need",
    spec: FunctionSpec,
    status: FunctionObjectStatus,
    names: { pattern: namePattern.function, maxLength: 63 },
    rules: functionObjectRules,
    columns: [
      condition("Ready"),
      { name: "Reason", type: "string", jsonPath: ".status.reason" },
      { name: "Desired", type: "integer", jsonPath: ".spec.replicas" },
      { name: "Available", type: "integer", jsonPath: ".status.availableReplicas" },
      { name: "Image", type: "string", jsonPath: ".spec.image" },
      age,
    ],
    scales: true,
  },
  profile: {
    ...service,
    kind: "Profile",
    plural: "profiles",
    shortNames: ["fnp"],
    singular: "profile",
    about: "Pod settings beyond those of the function; functions name the profile in an annotation",
    spec: ProfileSpec,
    status: ProfileObjectStatus,
    columns: [condition("Accepted"), age],
  },
  secret: {
    ...service,
    kind: "Secret",
    plural: "secrets",
    shortNames: ["fns"],
    singular: "secret",
    about: "Allows functions to use a core secret; it holds no values",
    spec: SecretSpec,
    status: SecretObjectStatus,
    names: { pattern: namePattern.secret, maxLength: 253 },
    columns: [{ name: "Secret", type: "string", jsonPath: ".spec.secretRef.name" }, condition("Ready"), age],
  },
  jwtIssuer: {
    ...iam,
    kind: "JwtIssuer",
    plural: "jwtissuers",
    shortNames: ["jwti"],
    singular: "jwtissuer",
    about: "An issuer whose tokens are trusted",
    spec: JwtIssuerSpec,
    columns: [{ name: "Issuer", type: "string", jsonPath: ".spec.iss" }, ...iam.columns],
  },
  policy: {
    ...iam,
    kind: "Policy",
    plural: "policies",
    shortNames: ["iampol"],
    singular: "policy",
    about: "Which actions are allowed on which resources",
    spec: PolicySpec,
  },
  role: {
    ...iam,
    kind: "Role",
    plural: "roles",
    shortNames: ["iamrole"],
    singular: "role",
    about: "Who is granted which policies",
    spec: RoleSpec,
  },
} as const satisfies Readonly<Record<string, CustomResource>>;
