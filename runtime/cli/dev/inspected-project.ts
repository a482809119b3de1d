import { annotation, keyPrefixes, label } from "../../api/names.ts";
import type { ProjectFunction } from "../project/project-schema.ts";
import type { Project } from "../project/project.ts";

/** Any free port of this machine: several functions may wait for a debugger. */
const inspectFlag = "--inspect=127.0.0.1:0";
const longestCall = "1h";

/** The project with functions that a debugger can attach to: one replica each, which may stand still for an hour. */
export function inspectedProject(project: Project): Project {
  const { content } = project;
  const functions = Object.entries(content.functions).map(([name, each]) => [name, inspected(each, project, name)]);
  return { ...project, content: { ...content, functions: Object.fromEntries(functions) as typeof content.functions } };
}

function inspected(definition: ProjectFunction, { environments }: Project, name: string): ProjectFunction {
  const { annotations = {}, envVars = {}, labels = {} } = definition;
  const options =
    envVars["NODE_OPTIONS"] ?? (Object.hasOwn(environments, name) ? environments[name] : {})?.["NODE_OPTIONS"];
  return {
    ...definition,
    envVars: { ...envVars, NODE_OPTIONS: options === undefined ? inspectFlag : `${options} ${inspectFlag}` },
    labels: {
      ...without(labels, [label.scaleMin, label.scaleMax, label.scaleZero]),
      [keyPrefixes[0] + label.scaleMin]: "1",
      [keyPrefixes[0] + label.scaleMax]: "1",
    },
    annotations: { ...without(annotations, [annotation.timeout]), [keyPrefixes[0] + annotation.timeout]: longestCall },
  };
}

/** Keys may have either prefix. */
function without(values: Readonly<Record<string, string>>, keys: readonly string[]): Readonly<Record<string, string>> {
  const left = keyPrefixes.flatMap((prefix) => keys.map((key) => prefix + key));
  return Object.fromEntries(Object.entries(values).filter(([key]) => !left.includes(key)));
}
