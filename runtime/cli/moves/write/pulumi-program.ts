import { escapeText } from "../../output/escape-text.ts";
import type { GeneratedFunction } from "./generated-functions.ts";

/** A value of the program that is written as it is. */
class Code {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A secret of functions: the namespace is undefined for the default one. */
interface UsedSecret {
  readonly name: string;
  readonly namespace: string | undefined;
  /** What it is called in the program and in the stack's state. */
  readonly key: string;
}

/**
 * A Pulumi program in TypeScript, with the components of `weir/infra`. Values of secrets come from the stack's
 * configuration.
 */
export function pulumiProgram(functions: readonly GeneratedFunction[]): string {
  const secrets = usedSecrets(functions);
  const parts = secrets.size === 0 ? [] : [secretsPart([...secrets.values()])];
  const imports = [
    ...(secrets.size === 0 ? [] : ['import * as pulumi from "@pulumi/pulumi";']),
    `import { Function${secrets.size === 0 ? "" : ", FunctionSecret"} } from "weir/infra";`,
  ];
  const program = [
    imports.join("\n"),
    ...parts,
    `const functions = ${functionsPart(functions, secrets)};`,
    "export const paths = Object.fromEntries(Object.entries(functions).map(([name, { path }]) => [name, path]));",
  ]
    .map((part) => `${part}\n`)
    .join("\n");
  // In its strings the escapes mean the same characters.
  return escapeText(program);
}

function secretsPart(secrets: readonly UsedSecret[]): string {
  const made = secrets.map(({ name, namespace, key }) => {
    const args = {
      ...(namespace === undefined ? {} : { namespace }),
      ...(key === name ? {} : { secretName: name }),
      files: { [name]: new Code(`config.requireSecret(${JSON.stringify(key)})`) },
    };
    return [key, new Code(`new FunctionSecret(${JSON.stringify(key)}, ${codeOf(args, 1)})`)] as const;
  });
  const commands = secrets.map(({ key }) => `// pulumi config set --secret ${key}`);
  return [
    ...commands,
    "const config = new pulumi.Config();",
    `const secrets = ${codeOf(Object.fromEntries(made))};`,
  ].join("\n");
}

function functionsPart(functions: readonly GeneratedFunction[], secrets: ReadonlyMap<string, UsedSecret>): string {
  const made = functions.map(({ name, deployed }) => {
    const { envProcess, envVars, secrets: names, ...same } = deployed;
    const args = {
      ...same,
      handler: envProcess,
      environment: envVars,
      secrets: names?.map((each) => {
        const { key } = secrets.get(placeOf(each, deployed.namespace)) ?? { key: each };
        return new Code(`secrets${isIdentifier(key) ? `.${key}` : `[${JSON.stringify(key)}]`}.secretName`);
      }),
    };
    return [name, new Code(`new Function(${JSON.stringify(name)}, ${codeOf(args, 1)})`)] as const;
  });
  return codeOf(Object.fromEntries(made));
}

/** The secrets of all functions by place; those of several namespaces have the namespace in their key. */
function usedSecrets(functions: readonly GeneratedFunction[]): ReadonlyMap<string, UsedSecret> {
  const found = functions.flatMap(({ deployed: { namespace, secrets = [] } }) =>
    secrets.map((name) => ({ name, namespace })),
  );
  const many = new Set(found.map(({ namespace }) => namespace)).size > 1;
  return new Map(
    found.map(({ name, namespace }) => {
      const key = many && namespace !== undefined ? `${namespace}/${name}` : name;
      return [placeOf(name, namespace), { name, namespace, key }];
    }),
  );
}

function placeOf(name: string, namespace: string | undefined): string {
  return JSON.stringify([namespace, name]);
}

/** A value as TypeScript, indented by two spaces at each level; keys without a value are left out. */
function codeOf(value: unknown, level = 0): string {
  if (value instanceof Code) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const parts = Array.isArray(value)
    ? value.map((each) => codeOf(each, level + 1))
    : Object.entries(value)
        .filter(([, each]) => each !== undefined)
        .map(([key, each]) => `${isIdentifier(key) ? key : JSON.stringify(key)}: ${codeOf(each, level + 1)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (parts.length === 0) return open + close;
  const indent = "  ".repeat(level + 1);
  return `${open}\n${parts.map((part) => `${indent}${part},\n`).join("")}${"  ".repeat(level)}${close}`;
}

function isIdentifier(text: string): boolean {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(text) && text !== "__proto__";
}
