import { isMapping } from "../../../runtime/settings/mapping.ts";
import { collectSettings } from "../../../runtime/settings/read-settings.ts";
import { optionalText, type Setting, type Settings, type Values } from "../../../runtime/settings/setting.ts";
import { annotationsOption, labelsOption, variablesOption } from "../mapping-options.ts";
import { tolerations } from "../toleration-option.ts";
import { optionText } from "./option-texts.ts";
import { resourcesOption } from "./resources-option.ts";

type Mapping = Readonly<Record<string, unknown>>;

/** What can be set for the pods of one part, beyond what holds for all. */
const partTable = {
  resources: resourcesOption("resources"),
  priorityClass: optionalText("priorityClass", { about: "Priority class", rule: optionText.objectName }),
  nodeSelector: labelsOption("nodeSelector", "Labels of the nodes"),
  tolerations: tolerations("tolerations", "Taints of nodes that are tolerated"),
  affinity: openMapping("affinity"),
  topologySpread: openList("topologySpread"),
  labels: labelsOption("labels", "Labels of the pods"),
  annotations: annotationsOption("annotations", "Annotations of the pods"),
  accountAnnotations: annotationsOption("accountAnnotations", "Annotations of the service account"),
  env: variablesOption("env", "Environment variables that are no settings of Weir"),
};

/** Options of one part. */
export type PartOptions = Values<typeof partTable>;

/** Options of the pods of one part: a mapping, in a file or a stack only. */
export function partOption(name: string, part: string): Setting<PartOptions> {
  return {
    name,
    about: `Pods of ${part}: ${Object.keys(partTable).join(", ")}`,
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected: "a mapping of options" }),
    parseFile: (content) => {
      const given = content ?? {};
      if (!isMapping(given)) return { problems: [`${name}: expected a mapping of options`] };
      const { values, problems } = collectSettings(partTable satisfies Settings, { file: given }, []);
      const unknown = Object.keys(given).filter((key) => !Object.hasOwn(partTable, key));
      const all = [...unknown.map((key) => `${key}: no such option`), ...problems];
      return all.length > 0 ? { problems: all.map((each) => `${name}.${each}`) } : { value: values };
    },
  };
}

/** A part of a pod in the words of Kubernetes, which judges it. */
function openMapping(name: string): Setting<Mapping | undefined> {
  return openField(name, "a mapping as a pod may have it", isMapping);
}

function openList(name: string): Setting<readonly Mapping[]> {
  const isList = (content: unknown): content is readonly Mapping[] =>
    Array.isArray(content) && content.every(isMapping);
  const { parseFile, ...field } = openField(name, "a list as a pod may have it", isList);
  return {
    ...field,
    parse: () => ({ expected: "a list" }),
    parseFile: (content) => {
      const read = parseFile?.(content) ?? { value: undefined };
      return "problems" in read ? read : { value: read.value ?? [] };
    },
  };
}

function openField<T>(name: string, expected: string, is: (content: unknown) => content is T): Setting<T | undefined> {
  return {
    name,
    about: "",
    kind: "mapping",
    fallback: "",
    parse: () => ({ expected }),
    parseFile: (content) => {
      if (content === undefined || content === null) return { value: undefined };
      return is(content) ? { value: content } : { problems: [`${name}: expected ${expected}`] };
    },
  };
}
