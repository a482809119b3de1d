import { Ajv, type ValidateFunction } from "ajv";

import { longestDuration, parseDuration } from "../duration.ts";
import { celDurationWithin, type CelRule } from "../resources/cel-rules.ts";
import { customResources } from "../resources/custom-resources.ts";

/** The kinds of identity and access, by name. */
export const iamKinds = {
  JwtIssuer: customResources.jwtIssuer,
  Policy: customResources.policy,
  Role: customResources.role,
} as const;

export type IamKind = keyof typeof iamKinds;

/** `apiVersion` of all these kinds. */
export const iamApiVersion = `${customResources.role.group}/${customResources.role.version}`;

/** As Kubernetes names objects: a DNS subdomain. */
export const iamNamePattern = "^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$";

const textMap = { type: "object", additionalProperties: { type: "string" } } as const;
/** Fields that Kubernetes adds: a manifest that was read from a cluster has them. */
const addedFields = [
  "generateName",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
] as const;
const metadata = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", maxLength: 253, pattern: iamNamePattern },
    namespace: { type: "string" },
    labels: textMap,
    annotations: textMap,
    ...Object.fromEntries(addedFields.map((field) => [field, {}])),
  },
};

const durationBounds: readonly (readonly [number, number])[] = [[1_000, longestDuration]];
/** The rules that Kubernetes checks by their CEL expression. */
const celCounterparts: ReadonlyMap<string, (value: unknown) => boolean> = new Map(
  durationBounds.map(([min, max]) => [
    celDurationWithin("self", min, max),
    (value: unknown): boolean => {
      const duration = typeof value === "string" ? parseDuration(value) : undefined;
      return duration !== undefined && duration >= min && duration <= max;
    },
  ]),
);

const validators = new Map<IamKind, ValidateFunction>();

/** Checks a whole manifest of this kind; compiled when it is first asked for. Fields that are not known are refused. */
export function iamValidator(kind: IamKind): ValidateFunction {
  const known = validators.get(kind);
  if (known !== undefined) return known;
  const schema = {
    type: "object",
    required: ["apiVersion", "metadata", "spec"],
    properties: {
      apiVersion: { const: iamApiVersion },
      kind: { const: kind },
      metadata,
      spec: iamKinds[kind].spec,
      status: {},
    },
  };
  const made = strictAjv().compile(closed(schema));
  validators.set(kind, made);
  return made;
}

/** Reports everything that is wrong, with the values; keywords of Kubernetes are checked as it does. */
function strictAjv(): Ajv {
  return new Ajv({ strict: true, allErrors: true, verbose: true })
    .addKeyword({
      keyword: "x-kubernetes-list-type",
      type: "array",
      errors: false,
      compile: (listType: string) => (list: readonly unknown[]) =>
        listType !== "set" || new Set(list).size === list.length,
    })
    .addKeyword({
      keyword: "x-kubernetes-validations",
      errors: false,
      compile: (rules: readonly CelRule[]) => {
        const tests = rules.map(counterpartOf);
        return (value: unknown) => tests.every((test) => test(value));
      },
    });
}

function counterpartOf({ rule }: CelRule): (value: unknown) => boolean {
  const counterpart = celCounterparts.get(rule);
  if (counterpart === undefined) throw new Error(`Cannot check manifests: rule "${rule}" has no counterpart`);
  return counterpart;
}

/** The same schema, with objects that have no other fields than those it names. */
function closed(schema: object): object {
  const text = JSON.stringify(schema, (_key, value: unknown) =>
    typeof value === "object" && value !== null && "properties" in value && !("additionalProperties" in value)
      ? { ...value, additionalProperties: false }
      : value,
  );
  return JSON.parse(text) as object;
}
