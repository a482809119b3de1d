import type { Setting } from "../../runtime/settings/setting.ts";

/** A toleration of a pod, as Kubernetes defines it. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

const tolerationFields: Readonly<Record<keyof Toleration, (value: unknown) => boolean>> = {
  key: (value) => typeof value === "string",
  operator: (value) => value === "Exists" || value === "Equal",
  value: (value) => typeof value === "string",
  effect: (value) => value === "NoSchedule" || value === "PreferNoSchedule" || value === "NoExecute",
  tolerationSeconds: (value) => Number.isInteger(value),
};

function isToleration(item: unknown): item is Toleration {
  const checks = new Map(Object.entries(tolerationFields));
  return (
    typeof item === "object" &&
    item !== null &&
    !Array.isArray(item) &&
    Object.entries(item).every(([field, value]) => checks.get(field)?.(value) ?? false) &&
    isConsistent(item)
  );
}

/** The API server's own rules: it refuses pods that break them. */
function isConsistent({ key = "", operator = "Equal", value = "", effect, tolerationSeconds }: Toleration): boolean {
  return (
    (key !== "" || operator === "Exists") &&
    (value === "" || operator === "Equal") &&
    (tolerationSeconds === undefined || effect === "NoExecute")
  );
}

/** Tolerations as a pod has them; only in a file. */
export function tolerations(name: string, about: string): Setting<readonly Toleration[]> {
  const expected =
    "a list of tolerations: key, operator, value, effect and tolerationSeconds as a pod may have them together";
  return {
    name,
    about,
    kind: "list of tolerations",
    fallback: "",
    parse: () => ({ expected }),
    parseFile: (content) => {
      const items: unknown = content ?? [];
      return Array.isArray(items) && items.every(isToleration)
        ? { value: items }
        : { problems: [`${name}: expected ${expected}`] };
    },
  };
}
