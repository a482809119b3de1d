import Type, { type Static } from "typebox";

import { FunctionDeployment } from "./function-deployment.ts";
import { functionName, namespaceName, queueName, time } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";
import { shownMap } from "./text-map.ts";

const { properties: deployed } = FunctionDeployment;

const count = (description: string, example: number) => Type.Integer({ minimum: 0, description, examples: [example] });

const ready = {
  type: "Ready",
  status: "True",
  reason: "ReplicasReady",
  message: "All replicas are ready",
  lastTransitionTime: "2026-01-31T12:00:00.000Z",
};

/** One condition of a function, in the form of a Kubernetes condition. */
export const Condition = Type.Object(
  {
    type: openEnum(
      ["Ready", "Healthy", "Reconciling", "Stalled", "Scaling"],
      "What the condition is about; Scaling says why there are this many replicas",
    ),
    status: openEnum(["True", "False", "Unknown"], "Whether the condition holds"),
    reason: Type.String({ description: "One word in CamelCase, for programs", examples: ["ReplicasReady"] }),
    message: Type.String({ description: "One sentence, for people", examples: ["All replicas are ready"] }),
    lastTransitionTime: time("When the status last changed"),
  },
  {
    title: "Condition",
    description: "One condition of a function, in the form of a Kubernetes condition",
    examples: [ready],
  },
);
export type Condition = Readonly<Static<typeof Condition>>;

/** CPU and memory that a function uses now. */
export const FunctionStatusUsage = Type.Object(
  {
    cpu: Type.Number({ minimum: 0, description: "Thousandths of a CPU", examples: [12.5] }),
    totalMemoryBytes: Type.Number({ minimum: 0, description: "Bytes of memory", examples: [8_388_608] }),
  },
  {
    title: "FunctionUsage",
    description: "What all replicas use now; present only with usage=1 and if known",
    examples: [{ cpu: 12.5, totalMemoryBytes: 8_388_608 }],
  },
);

/** Labels of a function as they are shown. */
export const FunctionLabels = shownMap(
  "FunctionLabels",
  "Labels as deployed, and `faas_function` with the name of the function",
  [{ faas_function: "hello" }],
);

/** Annotations of a function as they are shown. */
export const FunctionAnnotations = shownMap("FunctionAnnotations", "Annotations as deployed", [
  { "com.service.retry.attempts": "3" },
]);

/** A deployed function as `/system/functions` shows it (contract §2). */
export const FunctionStatus = Type.Object(
  {
    name: functionName("Name of the function, as `service` when it was deployed"),
    namespace: namespaceName("Real name of its namespace"),
    image: deployed.image,
    envProcess: deployed.envProcess,
    envVars: deployed.envVars,
    labels: FunctionLabels,
    annotations: FunctionAnnotations,
    secrets: deployed.secrets,
    constraints: deployed.constraints,
    limits: deployed.limits,
    requests: deployed.requests,
    readOnlyRootFilesystem: deployed.readOnlyRootFilesystem,
    replicas: count("Desired replicas", 1),
    availableReplicas: count("Replicas that are ready", 1),
    invocationCount: count("Finished calls, best effort", 42),
    createdAt: time("When the function was created"),
    generation: count("Increased by every change of the deployment", 1),
    queue: queueName("Queue of its asynchronous calls"),
    conditions: Type.Array(Condition, { description: "Conditions of the function" }),
    usage: Type.Optional(FunctionStatusUsage),
  },
  {
    title: "FunctionStatus",
    description: "A deployed function: the deployment, without fields that were not sent, and its current state",
    examples: [
      {
        name: "hello",
        namespace: "functions",
        image: "ghcr.io/acme/hello:1",
        labels: { faas_function: "hello" },
        annotations: {},
        replicas: 1,
        availableReplicas: 1,
        invocationCount: 42,
        createdAt: "2026-01-31T12:00:00.000Z",
        generation: 1,
        queue: "default",
        conditions: [ready],
      },
    ],
  },
);
export type FunctionStatus = Readonly<Static<typeof FunctionStatus>>;

/**
 * Fields that are accepted in a deployment and ignored: those of a status, so that the reply to a GET can be edited and
 * sent back, and those that older clients of this API family always send.
 */
export const ignoredInDeployment: readonly string[] = [
  ...Object.keys(FunctionStatus.properties),
  "network",
  "registryAuth",
];
