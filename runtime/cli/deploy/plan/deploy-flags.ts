import { usageError } from "../../cli-error.ts";
import type { OptionSpec } from "../../command-spec.ts";
import { escapeLine } from "../../output/escape-text.ts";
import type { ProjectFunction } from "../../project/project-schema.ts";

/** Flags that describe one function; lists are absent if the flag was not given. */
export interface DeployFlags {
  readonly image?: string;
  readonly process?: string;
  readonly env?: readonly string[];
  readonly secret?: readonly string[];
  readonly label?: readonly string[];
  readonly annotation?: readonly string[];
  readonly limit?: readonly string[];
  readonly request?: readonly string[];
  readonly constraint?: readonly string[];
  readonly readOnly?: boolean;
}

/** The options behind {@link DeployFlags}. */
export const deployFlagOptions: readonly OptionSpec[] = [
  { flags: "--image <reference>", about: "image to run, in place of folder and build" },
  { flags: "--process <command>", about: "process that serves the function" },
  { flags: "--env <name=value...>", about: "variable of its environment; never a secret" },
  { flags: "--secret <name...>", about: "secret that it gets as a file; replaces those of weir.yaml" },
  { flags: "--label <key=value...>", about: "label" },
  { flags: "--annotation <key=value...>", about: "annotation" },
  { flags: "--limit <name=amount...>", about: "most that a replica may use, as in memory=128Mi or cpu=500m" },
  { flags: "--request <name=amount...>", about: "what is reserved for a replica" },
  { flags: "--constraint <key=value...>", about: "where replicas may run; replaces those of weir.yaml" },
  { flags: "--read-only", about: "let it write to /tmp only" },
];

/** The flags that were given, as they are typed. */
export function givenFlags(flags: DeployFlags): readonly string[] {
  const given = (Object.keys(flagNames) as (keyof DeployFlags)[]).filter((key) => flags[key] !== undefined);
  return given.map((key) => flagNames[key]);
}

const flagNames: Readonly<Record<keyof DeployFlags, string>> = {
  image: "--image",
  process: "--process",
  env: "--env",
  secret: "--secret",
  label: "--label",
  annotation: "--annotation",
  limit: "--limit",
  request: "--request",
  constraint: "--constraint",
  readOnly: "--read-only",
};

/**
 * A function as flags change it: maps key by key, lists as a whole. With `--image` nothing is built and no folder is
 * run. `environment` is that of `--env-file`, below `--env`.
 * @throws CliError when a flag is not `key=value`
 */
export function applyFlags(
  definition: ProjectFunction,
  flags: DeployFlags,
  environment: Readonly<Record<string, string>>,
): ProjectFunction {
  const { folder, build, run, ...others } = definition;
  const { image, process, secret, constraint, readOnly } = flags;
  const source =
    image === undefined
      ? {
          ...(folder === undefined ? {} : { folder }),
          ...(build === undefined ? {} : { build }),
          ...(run === undefined ? {} : { run: process === undefined ? run : { ...run, process } }),
        }
      : { image };
  return {
    ...others,
    ...source,
    ...(process === undefined ? {} : { envProcess: process }),
    ...added("envVars", others.envVars, { ...environment, ...pairs("--env", flags.env) }),
    ...added("labels", others.labels, pairs("--label", flags.label)),
    ...added("annotations", others.annotations, pairs("--annotation", flags.annotation)),
    ...added("limits", others.limits, pairs("--limit", flags.limit)),
    ...added("requests", others.requests, pairs("--request", flags.request)),
    ...(secret === undefined ? {} : { secrets: [...new Set(secret)] }),
    ...(constraint === undefined ? {} : { constraints: constraint }),
    ...(readOnly === undefined ? {} : { readOnlyRootFilesystem: readOnly }),
  };
}

type TextMap = Readonly<Record<string, string>>;

function added<const Field extends string>(
  field: Field,
  before: TextMap | undefined,
  more: TextMap,
): Partial<Record<Field, TextMap>> {
  return Object.keys(more).length === 0 ? {} : ({ [field]: { ...before, ...more } } as Record<Field, TextMap>);
}

function pairs(flag: string, texts: readonly string[] = []): TextMap {
  return Object.fromEntries(
    texts.map((text) => {
      const equals = text.indexOf("=");
      if (equals <= 0)
        throw usageError(`Cannot read ${flag} "${escapeLine(flag === "--env" ? "…" : text)}": it is not key=value`);
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
}
