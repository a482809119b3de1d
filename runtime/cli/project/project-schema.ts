import Type, { type Static } from "typebox";

import type { AsRead } from "../../api/resources/as-read.ts";
import { namePattern } from "../../api/grammar.ts";
import { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { namespaceName } from "../../api/schemas/name-schemas.ts";
import { textMap } from "../../api/schemas/text-map.ts";

/** Most functions of one project. */
const mostFunctions = 500;

/** Text that can be passed to a process, as in {@link FunctionDeployment}. */
export const noNulPattern = "^[^\\u0000]*$";
/** Patterns of the fields of `build`. */
export const buildPattern = {
  platform: "^[a-z0-9]+(?:/[a-z0-9_.]+){1,2}$",
  registry: "^[a-zA-Z0-9][-a-zA-Z0-9._]*(?::[0-9]{1,5})?(?:/[a-z0-9][-a-z0-9._]*)*$",
  tag: "^[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}$",
} as const;

const shortText = { pattern: noNulPattern, minLength: 1, maxLength: 1_024 };
const path = (description: string, example: string) =>
  Type.Optional(Type.String({ ...shortText, description, examples: [example] }));
const commandLine = { pattern: noNulPattern, minLength: 1, maxLength: 4_096 };

const { service: _, image, namespace, ...deployed } = FunctionDeployment.properties;

/** How the image of a function is built (docker and clusters). */
const BuildSettings = Type.Object(
  {
    dockerfile: path("Dockerfile, relative to the context; Dockerfile when absent", "Dockerfile"),
    context: path("Directory whose content the build gets, relative to weir.yaml; folder when absent", "."),
    args: Type.Optional(
      textMap({
        title: "BuildArguments",
        description: "Values of ARG in the Dockerfile; never secrets, as they stay in the image",
        keys: { pattern: namePattern.environment, maxLength: 256 },
        values: { pattern: noNulPattern, maxLength: 65_536 },
        maxProperties: 128,
        examples: [{ BASE: "node:22-slim" }],
      }),
    ),
    target: Type.Optional(Type.String({ ...shortText, description: "Stage of the Dockerfile", examples: ["runtime"] })),
    platforms: Type.Optional(
      Type.Array(Type.String({ pattern: buildPattern.platform, maxLength: 64 }), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description: "Platforms of the image; the builder's own when absent",
        examples: [["linux/amd64", "linux/arm64"]],
      }),
    ),
    registry: Type.Optional(
      Type.String({
        pattern: buildPattern.registry,
        maxLength: 512,
        description: "Where the image is pushed to: registry and path before the function's name, without a scheme",
        examples: ["ghcr.io/acme"],
      }),
    ),
    tag: Type.Optional(
      Type.String({
        pattern: buildPattern.tag,
        maxLength: 128,
        description: "Tag of the image; 12 hex digits of its content when absent",
        examples: ["v1"],
      }),
    ),
  },
  {
    description: "How the image is built, with the docker provider and on clusters",
    additionalProperties: false,
    examples: [{ registry: "ghcr.io/acme" }],
  },
);

/** How the local provider runs a folder without an image. */
const RunSettings = Type.Object(
  {
    prepare: Type.Optional(
      Type.Array(Type.String(commandLine), {
        maxItems: 32,
        description: "Commands that run once for each content of the folder; split into words, never run by a shell",
        examples: [["npm ci --omit=dev"]],
      }),
    ),
    prepareEnvironment: Type.Optional(
      textMap({
        title: "PrepareEnvironment",
        description:
          "Environment of the commands of prepare, beside what Weir passes on of its own: proxies, authorities, registries; never secrets",
        keys: { pattern: namePattern.environment, maxLength: 256 },
        values: { maxLength: 4_096 },
        maxProperties: 64,
        examples: [{ PIP_INDEX_URL: "https://packages.acme.example/simple" }],
      }),
    ),
    process: Type.Optional(
      Type.String({
        ...commandLine,
        description: "Process that serves the function; {folder} is the copy of the folder; envProcess when absent",
        examples: ["node server.js"],
      }),
    ),
  },
  {
    description: "How the folder is run, with the local provider",
    additionalProperties: false,
    examples: [{ process: "node server.js" }],
  },
);

/** A function of a project: a FunctionDeployment under its own names, and where it comes from. */
const ProjectFunction = Type.Object(
  {
    image: Type.Optional(image),
    namespace,
    ...deployed,
    folder: path("Directory of its code, relative to weir.yaml and inside the project", "."),
    environmentFiles: Type.Optional(
      Type.Array(Type.String(shortText), {
        maxItems: 32,
        description: "Files of KEY=value lines inside the project; a later one wins, and envVars win over all",
        examples: [["defaults.env"]],
      }),
    ),
    build: Type.Optional(BuildSettings),
    run: Type.Optional(RunSettings),
  },
  {
    description: "A function as it is deployed; without image, it needs folder or build",
    additionalProperties: false,
    anyOf: [{ required: ["image"] }, { required: ["folder"] }, { required: ["build"] }],
    examples: [{ folder: ".", run: { process: "node server.js" } }],
  },
);

/** `weir.yaml`: the functions of a project, and how they are built and run. */
export const ProjectFile = Type.Object(
  {
    version: Type.Literal(1, { description: "Version of this format", examples: [1] }),
    gateway: Type.Optional(
      Type.String({
        ...shortText,
        description: "Address of the gateway; options and environment win over it",
        examples: ["http://127.0.0.1:8080"],
      }),
    ),
    namespace: Type.Optional(namespaceName("Namespace of its functions; the gateway's default one when absent")),
    functions: Type.Unsafe<Readonly<Record<string, Static<typeof ProjectFunction>>>>({
      type: "object",
      description: "The functions by their names",
      propertyNames: { type: "string", pattern: namePattern.function, maxLength: 63 },
      additionalProperties: ProjectFunction,
      minProperties: 1,
      maxProperties: mostFunctions,
      examples: [{ hello: { folder: ".", run: { process: "node server.js" } } }],
    }),
  },
  {
    title: "weir.yaml",
    description: "Functions of a project, and how they are built and run",
    additionalProperties: false,
    examples: [{ version: 1, functions: { hello: { image: "ghcr.io/acme/hello:1" } } }],
  },
);

/** See {@link ProjectFile}. */
export type ProjectFile = AsRead<Static<typeof ProjectFile>>;
/** See {@link ProjectFunction}. */
export type ProjectFunction = AsRead<Static<typeof ProjectFunction>>;
/** See {@link BuildSettings}. */
export type BuildSettings = AsRead<Static<typeof BuildSettings>>;
/** See {@link RunSettings}. */
export type RunSettings = AsRead<Static<typeof RunSettings>>;
