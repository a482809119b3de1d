import { stringify } from "yaml";

import { stackKeys, type StackKey } from "../../infra/stack-keys.ts";
import type { Setting } from "../../runtime/settings/setting.ts";

const head = {
  name: "weir",
  description: "A function platform on Kubernetes",
  // Node strips the types itself; Pulumi's own support does not include TypeScript 7.
  runtime: { name: "nodejs", options: { typescript: false } },
  main: "infra/main.js",
};

/** The text of `Pulumi.yaml`: a project that describes each key of a stack with its type, default and meaning. */
export function projectFile(): string {
  const config = Object.fromEntries(stackKeys.map((key) => [key.key, declaration(key)]));
  const note = "# Written by `npm run stack-keys` from infra/stack-keys.ts; change it there.\n";
  return note + stringify({ ...head, config }, { lineWidth: 0 });
}

/** Pulumi requires a value for each key without a default; an empty text stands for none. */
function declaration({ setting, group, fallback = "" }: StackKey) {
  if (setting === undefined)
    return {
      type: "object",
      description: Object.values(group ?? {})
        .map(optionOf)
        .join("\n"),
      default: {},
    };
  const description = setting.about + limitsOf(setting);
  if (setting.parseFile !== undefined) return { type: "object", description, default: {} };
  if (setting.kind === "true or false") return { type: "boolean", description, default: fallback === "true" };
  if (setting.kind === "whole number" && fallback !== "")
    return { type: "integer", description, default: Number(fallback) };
  return { type: "string", description, default: fallback };
}

function optionOf(setting: Setting<unknown>): string {
  const fallback = setting.fallback === undefined || setting.fallback === "" ? "" : `, ${setting.fallback}`;
  return `${setting.name} (${setting.kind}${fallback}): ${setting.about}.`;
}

function limitsOf({ kind, limits }: Setting<unknown>): string {
  const words = [
    ...(impliedKinds.some((plain) => kind.startsWith(plain)) ? [] : [kind]),
    ...(limits === undefined ? [] : [limits]),
  ];
  return words.length === 0 ? "" : ` (${words.join(", ")})`;
}

/** Kinds that the type already expresses. */
const impliedKinds: readonly string[] = ["text", "true or false", "whole number", "mapping"];
