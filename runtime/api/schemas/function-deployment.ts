import Type, { type Static } from "typebox";

import { namePattern } from "../grammar.ts";
import { mostReplicas, mostText } from "./key-rules.ts";
import { functionName, inNamespace, secretName } from "./name-schemas.ts";
import { Annotations, Labels, textMap } from "./text-map.ts";

/** Text that can be passed to a process: without NUL. */
const noNul = "^[^\\u0000]*$";

/** Amounts of memory, CPU and devices as Kubernetes quantity strings. */
export const Resources = Type.Unsafe<Readonly<Record<string, string>>>({
  title: "Resources",
  type: "object",
  description: "Amounts by name (memory, cpu and device keys such as nvidia.com/gpu) as Kubernetes quantity strings",
  propertyNames: { type: "string", pattern: namePattern.resource, maxLength: 317 },
  additionalProperties: {
    type: "string",
    pattern: namePattern.quantity,
    maxLength: 32,
  },
  maxProperties: 16,
  examples: [{ memory: "128Mi", cpu: "500m" }],
});

/** Environment of a function. */
export const EnvironmentVariables = textMap({
  title: "EnvironmentVariables",
  description: "Environment of the function, 256 KiB in all and 128 KiB for one variable; never secrets",
  keys: { pattern: namePattern.environment, maxLength: mostText },
  values: { pattern: noNul, maxLength: mostText },
  maxProperties: 1_024,
  examples: [{ exec_timeout: "5s" }],
});

/** What a client deploys (contract §2). */
export const FunctionDeployment = Type.Object(
  {
    service: functionName("Name of the function"),
    image: Type.String({
      pattern: "^[a-zA-Z0-9](?:[-a-zA-Z0-9._/@+]|:+[-a-zA-Z0-9._@+])*$",
      maxLength: 1_024,
      description: "Image reference without a scheme; returned as sent",
      examples: ["ghcr.io/acme/hello:1"],
    }),
    namespace: inNamespace,
    envProcess: Type.Optional(
      Type.String({
        pattern: noNul,
        maxLength: 4_096,
        description: "Process that serves the function; split into words as by a shell, never run by one",
        examples: ["sha256sum"],
      }),
    ),
    envVars: Type.Optional(EnvironmentVariables),
    labels: Type.Optional(Labels),
    annotations: Type.Optional(Annotations),
    secrets: Type.Optional(
      Type.Array(secretName("Name of a secret"), {
        maxItems: 64,
        uniqueItems: true,
        description: "Secrets of the same namespace that the function gets as files; they must exist",
        examples: [["api-key"]],
      }),
    ),
    constraints: Type.Optional(
      Type.Array(Type.String({ pattern: "^[^=]+==?[^=]+$", maxLength: 512 }), {
        maxItems: 32,
        description: "Where replicas may run, as key=value or key==value; stored without effect on one machine",
        examples: [["zone=a"]],
      }),
    ),
    limits: Type.Optional(Resources),
    requests: Type.Optional(Resources),
    readOnlyRootFilesystem: Type.Optional(
      Type.Boolean({ description: "Whether the function may write to /tmp only", examples: [true] }),
    ),
  },
  {
    title: "FunctionDeployment",
    description:
      "Desired state of a function. Fields of FunctionStatus are accepted and ignored, so that the reply to a GET can be edited and sent back; only `name` is used, if `service` is absent. Any other field is refused.",
    additionalProperties: false,
    examples: [
      {
        service: "hello",
        image: "ghcr.io/acme/hello:1",
        envProcess: "sha256sum",
        envVars: { exec_timeout: "5s" },
        labels: { "com.service.scale.min": "2" },
        annotations: { "com.service.retry.attempts": "3" },
        secrets: ["api-key"],
        limits: { memory: "128Mi" },
      },
    ],
  },
);

/** See {@link FunctionDeployment}. */
export type FunctionDeployment = Readonly<Static<typeof FunctionDeployment>>;

/** The function to delete. */
export const DeleteFunctionRequest = Type.Object(
  { functionName: functionName("Name of the function"), namespace: inNamespace },
  {
    title: "DeleteFunctionRequest",
    description: "The function to delete",
    examples: [{ functionName: "hello" }],
  },
);

/** The desired number of replicas of a function. */
export const ScaleServiceRequest = Type.Object(
  {
    replicas: Type.Integer({
      minimum: 0,
      maximum: mostReplicas,
      description: "Desired replicas, at most the value of label com.service.scale.max",
      examples: [2],
    }),
    namespace: inNamespace,
    serviceName: Type.Optional(Type.String({ description: "Ignored: the path decides", examples: ["hello"] })),
  },
  {
    title: "ScaleServiceRequest",
    description: "The desired number of replicas of a function",
    examples: [{ replicas: 2 }],
  },
);
