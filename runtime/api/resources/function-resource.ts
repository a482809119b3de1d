import Type, { type Static } from "typebox";

import type { AsRead } from "./as-read.ts";
import { celDurationWithin, keyCelRules, keyPrefixRule, notAboveCelRule, valueOf, type CelRule } from "./cel-rules.ts";
import { booleanWords, parseBoolean } from "../boolean.ts";
import { longestDuration } from "../duration.ts";
import { grammarRule } from "../grammar.ts";
import { FunctionDeployment } from "../schemas/function-deployment.ts";
import { functionName } from "../schemas/name-schemas.ts";
import { keyPrefixes } from "../names.ts";
import { ruledMap } from "../schemas/text-map.ts";
import {
  annotationKey,
  annotationRules,
  defaultScale,
  labelKey,
  labelRules,
  mostReplicas,
  mostText,
  wholePattern,
} from "../schemas/key-rules.ts";
import { generation, resourceConditions } from "./resource-conditions.ts";
import { requestsCelRule, resourceAmounts } from "./resource-amounts.ts";

const { properties: deployed } = FunctionDeployment;

const withinMostText: CelRule = {
  rule: `self.map(key, size(key) + size(self[key])).sum() <= ${mostText}`,
  message: `expected at most ${mostText} characters in all keys and values`,
};

const { scaleMax } = labelKey;
const maxReplicas = `has(self.labels) ? (${valueOf("self.labels", scaleMax.name, `${defaultScale.max}`)}) : '${defaultScale.max}'`;

const { corsOrigins, corsCredentials } = annotationKey;
const spellings = (name: string): string[] => keyPrefixes.map((prefix) => `'${prefix}${name}'`);
const otherCorsKeys = [annotationKey.corsMethods, annotationKey.corsHeaders, corsCredentials, annotationKey.corsMaxAge];
const trueWords = booleanWords.filter((word) => parseBoolean(word) === true).map((word) => `'${word}'`);

/** As `core/functions/cors-rule.ts`: no rule without origins, and no credentials for any origin. */
const corsCelRules: CelRule[] = [
  {
    rule: `[${otherCorsKeys.flatMap(({ name }) => spellings(name)).join(", ")}].all(key, !(key in self)) || ${spellings(
      corsOrigins.name,
    )
      .map((key) => `${key} in self`)
      .join(" || ")}`,
    message: `expected ${keyPrefixes[0]}${corsOrigins.name} beside other keys of CORS`,
  },
  {
    rule: `!(${valueOf("self", corsOrigins.name, "")}).matches('(^|,) *[*] *(,|$)') || !((${valueOf(
      "self",
      corsCredentials.name,
      "false",
    )}).lowerAscii() in [${trueWords.join(", ")}])`,
    message: `${keyPrefixes[0]}${corsCredentials.name}: expected named origins, not *`,
  },
];

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, description }));

/** The spec of a Function object: a deployment in the terms of Kubernetes (contract §2). */
export const FunctionSpec = Type.Object(
  {
    name: Type.Optional(functionName("Name of the function; if given, it must be the name of the object")),
    image: deployed.image,
    handler: Type.Optional(
      Type.Unsafe<string>({
        ...deployed.envProcess,
        "x-kubernetes-validations": [
          { rule: "size(bytes(self)) <= 4096", message: "expected at most 4096 bytes" },
        ] satisfies CelRule[],
      }),
    ),
    environment: Type.Optional(
      ruledMap(deployed.envVars, grammarRule.environment, [
        withinMostText,
        {
          rule: `!('exec_timeout' in self) || ${celDurationWithin("self['exec_timeout']", 0, longestDuration)}`,
          message: "exec_timeout: expected a duration such as 30s",
        },
      ]),
    ),
    labels: Type.Optional(
      ruledMap(deployed.labels, grammarRule.key, [
        keyPrefixRule,
        ...keyCelRules(labelRules),
        notAboveCelRule("self", [labelKey.scaleMin, scaleMax], [`${defaultScale.min}`, `${defaultScale.max}`]),
      ]),
    ),
    annotations: Type.Optional(
      ruledMap(deployed.annotations, grammarRule.key, [
        withinMostText,
        keyPrefixRule,
        ...keyCelRules(annotationRules),
        notAboveCelRule("self", [annotationKey.retryMinWait, annotationKey.retryMaxWait], ["0", "8785h"]),
        ...corsCelRules,
      ]),
    ),
    secrets: deployed.secrets,
    constraints: deployed.constraints,
    limits: Type.Optional(resourceAmounts("Most that a replica may use")),
    requests: Type.Optional(resourceAmounts("What is reserved for a replica")),
    readOnlyRootFilesystem: deployed.readOnlyRootFilesystem,
    replicas: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: mostReplicas,
        description:
          "Desired replicas, written by whatever scales the function; if absent, the operator writes com.service.scale.min",
      }),
    ),
  },
  {
    description: "Desired state of the function",
    "x-kubernetes-validations": [
      requestsCelRule,
      {
        rule:
          "!has(self.replicas) || (oldSelf.hasValue() && has(oldSelf.value().replicas) && oldSelf.value().replicas == self.replicas) || " +
          `!(${maxReplicas}).matches('${wholePattern(scaleMax.digits)}') || self.replicas <= int(${maxReplicas})`,
        message: `expected at most the label ${keyPrefixes[0]}${scaleMax.name}, which is ${defaultScale.max} when absent`,
        fieldPath: ".replicas",
        optionalOldSelf: true,
      },
    ] satisfies CelRule[],
  },
);
export type FunctionSpec = Readonly<Static<typeof FunctionSpec>>;

/** The status of a Function object. */
export const FunctionObjectStatus = Type.Object(
  {
    conditions: resourceConditions(
      ["Ready", "Healthy", "Reconciling", "Stalled", "Scaling"],
      "Conditions of the function; Scaling says why there are this many replicas",
    ),
    reason: Type.Optional(
      Type.String({
        maxLength: 1_024,
        description: "Reason of condition Stalled or Reconciling while one of them is True, else of condition Ready",
      }),
    ),
    replicas: count("Replicas that exist"),
    availableReplicas: count("Replicas that are ready"),
    unavailableReplicas: count("Desired replicas that are not ready"),
    observedGeneration: Type.Optional(generation("Generation that the status describes")),
    selector: Type.Optional(Type.String({ maxLength: 1_024, description: "Selector of the pods, for autoscalers" })),
    profiles: Type.Optional(
      Type.Array(Type.String({ maxLength: 253 }), {
        maxItems: 128,
        description: "Profiles that were merged, in order",
      }),
    ),
  },
  { description: "Observed state of the function" },
);
export type FunctionObjectStatus = AsRead<Static<typeof FunctionObjectStatus>>;

/** Rules about the whole object: its name is that of the function. */
export const functionObjectRules: readonly CelRule[] = [
  {
    rule: "!has(self.spec.name) || self.spec.name == self.metadata.name",
    message: "expected the name of the object, metadata.name",
    fieldPath: ".spec.name",
  },
];
