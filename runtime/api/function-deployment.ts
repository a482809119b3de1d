import Type, { type Static } from "typebox";

const name = (about: string) =>
  Type.String({ pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", maxLength: 63, description: about });

const texts = (about: string, limit = 128) =>
  Type.Record(Type.String(), Type.String({ maxLength: 262_144 }), { maxProperties: limit, description: about });

/** Amounts of memory, CPU and devices as Kubernetes quantity strings. */
export const Resources = Type.Record(
  Type.String({ pattern: "^[-a-zA-Z0-9./_]{1,253}$" }),
  Type.String({
    pattern: "^[0-9]{1,15}(\\.[0-9]{1,9})?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][0-9]{1,2})?$",
    maxLength: 32,
  }),
  { maxProperties: 16, description: "memory, cpu and device keys with quantity strings, e.g. 128Mi, 500m" },
);

/** What a client deploys (contract §2). */
export const FunctionDeployment = Type.Object({
  service: name("Function name"),
  image: Type.String({
    pattern: "^[a-zA-Z0-9][-a-zA-Z0-9._/:@+]*$",
    maxLength: 1_024,
    description: "Image reference without a scheme; returned as sent",
  }),
  namespace: Type.Optional(name("Namespace; the default one when absent")),
  envProcess: Type.Optional(
    Type.String({
      maxLength: 4_096,
      description: "Process that serves the function; split by shell-words rules, never a shell",
    }),
  ),
  envVars: Type.Optional(
    Type.Record(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_.-]*$" }), Type.String({ maxLength: 262_144 }), {
      maxProperties: 1_024,
      description: "Environment of the function; never secrets",
    }),
  ),
  labels: Type.Optional(texts("Labels in Kubernetes syntax")),
  annotations: Type.Optional(texts("Annotations")),
  secrets: Type.Optional(
    Type.Array(Type.String({ pattern: "^[a-z0-9][-a-z0-9.]*$", maxLength: 253 }), {
      maxItems: 64,
      description: "Names of existing secrets",
    }),
  ),
  constraints: Type.Optional(
    Type.Array(Type.String({ pattern: "^[^=]+==?[^=]+$", maxLength: 512 }), {
      maxItems: 32,
      description: "key=value or key==value",
    }),
  ),
  limits: Type.Optional(Resources),
  requests: Type.Optional(Resources),
  readOnlyRootFilesystem: Type.Optional(Type.Boolean({ description: "/tmp stays writable" })),
});

/** See {@link FunctionDeployment}. */
export type FunctionDeployment = Readonly<Static<typeof FunctionDeployment>>;

export const DeleteFunctionRequest = Type.Object({
  functionName: name("Function name"),
  namespace: Type.Optional(name("Namespace; the default one when absent")),
});

export const ScaleServiceRequest = Type.Object({
  replicas: Type.Integer({ minimum: 0, description: "Replicas wanted, at most the label scale.max" }),
  namespace: Type.Optional(name("Namespace; the default one when absent")),
  serviceName: Type.Optional(Type.String({ description: "Ignored: the path decides" })),
});
