import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import Type, { type Static } from "typebox";
import { Check, Errors } from "typebox/value";

import { FunctionDeployment } from "../../runtime/api/schemas/function-deployment.ts";

const Call = Type.Object(
  {
    method: Type.String(),
    path: Type.String({ description: "Below the gateway's address" }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    body: Type.Optional(Type.String()),
    bodyFile: Type.Optional(Type.String({ description: "Beside example.json" })),
  },
  { additionalProperties: false },
);
export type ExampleCall = Readonly<Static<typeof Call>>;

/**
 * Content of `example.json`. Texts may contain `{directory}` (where the function finds the example's files),
 * `{gateway}`, `{token}` (new and random at each deployment) and `{callId}` (of the previous asynchronous call).
 */
const Example = Type.Object(
  {
    about: Type.String({ description: "What the function does, one sentence without a full stop" }),
    with: Type.Optional(Type.Array(Type.String(), { description: "Examples that are deployed first" })),
    secrets: Type.Optional(Type.Array(Type.Object({ name: Type.String(), value: Type.String() }))),
    deployment: Type.Object(
      { ...FunctionDeployment.properties, envProcess: Type.String() },
      { additionalProperties: false },
    ),
    calls: Type.Array(Call),
  },
  { additionalProperties: false },
);

/** One directory below `examples/`. */
export interface Example extends Readonly<Static<typeof Example>> {
  readonly name: string;
  readonly directory: string;
  /** Names of the npm packages it imports, as its `package.json` says. */
  readonly packages: readonly string[];
}

/** Prefix of examples that are Pulumi programs, which deploy functions but are not functions. */
const programExample = "pulumi";

/** The names of the directories below `root` that hold an example, sorted. */
export async function exampleNames(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith(programExample))
    .map((entry) => entry.name)
    .toSorted();
}

/**
 * Reads one example.
 * @throws Error with a sentence when there is none of that name or its `example.json` breaks a rule
 */
export async function readExample(root: string, name: string): Promise<Example> {
  const names = await exampleNames(root);
  if (!names.includes(name)) throw new Error(`Cannot find example "${name}": there are ${names.join(", ")}`);
  const directory = join(root, name);
  const content: unknown = JSON.parse(await readFile(join(directory, "example.json"), "utf8"));
  if (Check(Example, content)) return { ...content, name, directory, packages: await packagesOf(directory) };
  const problems = [...Errors(Example, content)].map((error) => `${error.instancePath || "/"} ${error.message}`);
  throw new Error(`Cannot read example "${name}": ${problems.join("; ")}`);
}

async function packagesOf(directory: string): Promise<string[]> {
  const content = await readFile(join(directory, "package.json"), "utf8").catch(() => "{}");
  return Object.keys((JSON.parse(content) as { dependencies?: object }).dependencies ?? {});
}

/** `value` with every `{name}` in `values` replaced, in all texts it contains. */
export function filled<T>(value: T, values: Readonly<Record<string, string>>): T {
  const text = JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "string" ? part.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole) : part,
  );
  return JSON.parse(text);
}
