import { isMapping } from "../../../runtime/settings/mapping.ts";
import { textOf } from "../../../runtime/settings/read-settings.ts";
import type { Setting } from "../../../runtime/settings/setting.ts";
import { sizeRule } from "../sizes.ts";
import { optionText } from "./option-texts.ts";

/** Amounts of a pod: `cpu` and `memory`. */
type Amounts = Readonly<Partial<Record<"cpu" | "memory", string>>>;

/** Requests and limits of a pod, as far as they are given. */
export interface PodResources {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

const rules = { cpu: optionText.cores, memory: sizeRule } as const;

/** Requests and limits of CPU and memory, instead of those that are derived. */
export function resourcesOption(name: string): Setting<PodResources> {
  return {
    name,
    about: "Requests and limits of cpu and memory",
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected: "a mapping" }),
    parseFile: (content) => {
      const given = content ?? {};
      if (!isMapping(given)) return { problems: [`${name}: expected requests and limits`] };
      const { requests, limits, ...others } = given;
      const problems = Object.keys(others).map((key) => `${name}.${key}: expected requests or limits`);
      const value = {
        requests: amounts(`${name}.requests`, requests, problems),
        limits: amounts(`${name}.limits`, limits, problems),
      };
      return problems.length > 0 ? { problems } : { value };
    },
  };
}

function amounts(path: string, content: unknown, problems: string[]): Amounts {
  const given = content ?? {};
  if (!isMapping(given)) {
    problems.push(`${path}: expected cpu and memory`);
    return {};
  }
  const read = Object.entries(given).map(([key, value]) => {
    const rule = key === "cpu" || key === "memory" ? rules[key] : undefined;
    const text = textOf(value) ?? "";
    if (rule?.test(text) !== true) problems.push(`${path}.${key}: expected ${rule?.expected ?? "cpu or memory"}`);
    return [key, text] as const;
  });
  return Object.fromEntries(read);
}
