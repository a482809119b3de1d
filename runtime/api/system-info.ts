import Type, { type Static } from "typebox";

import { editionNames } from "./editions.ts";
import { namespaceName } from "./name-schemas.ts";

const word = (description: string, example: string) => Type.String({ minLength: 1, description, examples: [example] });

/** An object, as clients of this API family read it from both places; a string makes them fail. */
const version = (description: string) =>
  Type.Object(
    {
      release: word("Version of the release", "0.1.0"),
      sha: word("Commit that it was made from", "unreleased"),
      commit_message: word("What that commit says", "unreleased"),
    },
    { description },
  );

/** `/system/info` (contract §2). */
export const SystemInfo = Type.Object(
  {
    provider: Type.Object(
      {
        provider: word("What runs functions: weir-kubernetes, weir-docker or weir-local", "weir-local"),
        orchestration: word("How: kubernetes, docker or process", "process"),
        version: version("Its version"),
      },
      { description: "What runs the functions" },
    ),
    version: version("What this gateway is"),
    arch: word("Processor of the gateway: x86_64 or arm64", "x86_64"),
    edition: Type.Enum([...editionNames], { type: "string", description: "Preset of limits" }),
    apiVersion: word("major.minor of this API", "1.0"),
    functionNamespace: namespaceName("The default namespace"),
    namespaceAliases: Type.Array(namespaceName("Another name of the default namespace"), {
      description: "Other names of the default namespace",
    }),
    durability: word(
      "What a crash of the operating system can lose: interval (the last moments), always (nothing), cluster",
      "interval",
    ),
  },
  {
    title: "SystemInfo",
    description: "What this platform is",
    examples: [
      {
        provider: {
          provider: "weir-local",
          orchestration: "process",
          version: { release: "0.1.0", sha: "unreleased", commit_message: "unreleased" },
        },
        version: { release: "0.1.0", sha: "unreleased", commit_message: "unreleased" },
        arch: "x86_64",
        edition: "community",
        apiVersion: "1.0",
        functionNamespace: "functions",
        namespaceAliases: ["openfaas-fn"],
        durability: "interval",
      },
    ],
  },
);
export type SystemInfo = Readonly<Static<typeof SystemInfo>>;
