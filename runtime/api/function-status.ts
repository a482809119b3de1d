import Type, { type Static } from "typebox";

import { FunctionDeployment } from "./function-deployment.ts";

/** One statement about a function, in the form of a Kubernetes condition. */
export const Condition = Type.Object({
  type: Type.Union([
    Type.Literal("Ready"),
    Type.Literal("Healthy"),
    Type.Literal("Reconciling"),
    Type.Literal("Stalled"),
    Type.Literal("Scaling"),
  ]),
  status: Type.Union([Type.Literal("True"), Type.Literal("False"), Type.Literal("Unknown")]),
  reason: Type.String({ description: "One word in CamelCase" }),
  message: Type.String({ description: "One sentence for people" }),
  lastTransitionTime: Type.String({ description: "RFC 3339" }),
});
export type Condition = Readonly<Static<typeof Condition>>;

/** A deployed function as `/system/functions` shows it (contract §2). */
export const FunctionStatus = Type.Object({
  name: FunctionDeployment.properties.service,
  namespace: Type.String(),
  image: FunctionDeployment.properties.image,
  envProcess: FunctionDeployment.properties.envProcess,
  envVars: FunctionDeployment.properties.envVars,
  labels: Type.Record(Type.String(), Type.String()),
  annotations: Type.Record(Type.String(), Type.String()),
  secrets: FunctionDeployment.properties.secrets,
  constraints: FunctionDeployment.properties.constraints,
  limits: FunctionDeployment.properties.limits,
  requests: FunctionDeployment.properties.requests,
  readOnlyRootFilesystem: FunctionDeployment.properties.readOnlyRootFilesystem,
  replicas: Type.Integer({ description: "Desired" }),
  availableReplicas: Type.Integer({ description: "Ready" }),
  invocationCount: Type.Integer({ description: "Finished calls, best effort" }),
  createdAt: Type.String({ description: "RFC 3339" }),
  generation: Type.Integer({ description: "Raised by every PUT" }),
  queue: Type.String(),
  conditions: Type.Array(Condition),
  usage: Type.Optional(
    Type.Object({ cpu: Type.Number({ description: "milli-CPU" }), totalMemoryBytes: Type.Number() }),
  ),
});
export type FunctionStatus = Readonly<Static<typeof FunctionStatus>>;
