import Type, { type Static } from "typebox";

import { editionNames } from "../editions.ts";
import { namespaceName, time } from "./name-schemas.ts";
import { openEnum } from "./open-enum.ts";

const word = (description: string, example: string) => Type.String({ minLength: 1, description, examples: [example] });

/** The build of a component: an object, because clients of this API family fail on a string. */
export const VersionInfo = Type.Object(
  {
    release: word("Version of this release", "0.1.0"),
    sha: word("Commit that it was built from", "unreleased"),
    commit_message: word("Message of that commit", "unreleased"),
  },
  {
    title: "VersionInfo",
    description: "The build of a component",
    examples: [{ release: "0.1.0", sha: "unreleased", commit_message: "unreleased" }],
  },
);

/** What runs the functions. */
export const ProviderInfo = Type.Object(
  {
    provider: word("What runs functions: weir-kubernetes, weir-docker or weir-local", "weir-local"),
    orchestration: word("How it runs them: kubernetes, docker or process", "process"),
    version: VersionInfo,
  },
  {
    title: "ProviderInfo",
    description: "What runs the functions",
    examples: [
      {
        provider: "weir-local",
        orchestration: "process",
        version: { release: "0.1.0", sha: "unreleased", commit_message: "unreleased" },
      },
    ],
  },
);

/** What is wrong with one document of the rules. */
export const AccessFault = Type.Object(
  {
    subject: word("Kind and name of the document, or its file", 'Role "deployers"'),
    place: Type.Optional(word("File and line", "roles.yaml:12")),
    sentence: word(
      "What is wrong with it",
      'it names Policy "deploy", which does not exist, and grants the others only',
    ),
  },
  {
    title: "AccessFault",
    description: "What is wrong with one document of the rules; it is left out, or works in part",
    examples: [{ subject: 'Role "deployers"', place: "roles.yaml:12", sentence: "it is left out" }],
  },
);

const countOf = (what: string) =>
  Type.Integer({ minimum: 0, description: `Number of ${what} in force`, examples: [1] });

/** Identity and access of this platform. */
export const AccessInfo = Type.Object(
  {
    issuer: word("Issuer and audience of the platform's own tokens", "https://weir.example.com"),
    issuers: countOf("JwtIssuers"),
    policies: countOf("Policies"),
    roles: countOf("Roles"),
    faults: Type.Array(AccessFault, { description: "What is wrong with other documents" }),
  },
  {
    title: "AccessInfo",
    description: "Identity and access; only in editions with IAM",
    examples: [{ issuer: "https://weir.example.com", issuers: 1, policies: 2, roles: 3, faults: [] }],
  },
);

/** A part of the broker's store that could not be recovered. */
export const SetAsidePart = Type.Object(
  {
    part: word("What is missing: a queue, or another part of the store", 'queue "default"'),
    reason: word("Why it could not be recovered", "its meta.inf is empty"),
    loss: word("What that means", "the calls that waited in it"),
    path: word("Where its files are now", "/home/ada/.weir/set-aside/2026-05-04T10-20-30.000Z-Q_default"),
    at: time("When it was set aside"),
  },
  {
    title: "SetAsidePart",
    description: "A part of the store that the broker could not recover; it was created again, empty",
    examples: [
      {
        part: 'queue "default"',
        reason: "its meta.inf is empty",
        loss: "the calls that waited in it",
        path: "/home/ada/.weir/set-aside/2026-05-04T10-20-30.000Z-Q_default",
        at: "2026-05-04T10:20:30.000Z",
      },
    ],
  },
);
export type SetAsidePart = Readonly<Static<typeof SetAsidePart>>;

/** `/system/info` (contract §2). */
export const SystemInfo = Type.Object(
  {
    provider: ProviderInfo,
    version: VersionInfo,
    arch: word("Processor architecture of the gateway: x86_64 or arm64", "x86_64"),
    edition: openEnum(editionNames, "Preset of limits"),
    apiVersion: word("major.minor of this API", "1.0"),
    functionNamespace: namespaceName("The default namespace"),
    namespaceAliases: Type.Array(namespaceName("Another name of the default namespace"), {
      description: "Other names of the default namespace",
    }),
    durability: word(
      "What a crash of the operating system can lose: interval (about the last second of calls), always or cluster (nothing)",
      "interval",
    ),
    iam: Type.Optional(AccessInfo),
    setAside: Type.Optional(
      Type.Array(SetAsidePart, {
        description: "Parts of the store that could not be recovered, until their files are removed; absent: none",
      }),
    ),
  },
  {
    title: "SystemInfo",
    description: "Version and configuration of this platform",
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
