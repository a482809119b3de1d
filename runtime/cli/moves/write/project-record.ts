import type { BuildSettings, ProjectFile, ProjectFunction, RunSettings } from "../../project/project-schema.ts";
import { fitToSchema, type FieldSchema, type Fitted } from "../source/fit-schema.ts";
import { projectFields, projectFunctionFields, type FieldSchemas } from "../source/function-schemas.ts";

/**
 * What weir.yaml has and a Function object has no field for. It is kept in a comment before the object, so that
 * importing the objects makes the same weir.yaml again.
 */
export interface ProjectRecord {
  /** Of the project. */
  readonly gateway?: string;
  readonly namespace?: string;
  /** Of the function. */
  readonly function?: FunctionRecord;
}

interface FunctionRecord {
  /** That the function names the project's namespace itself. */
  readonly ownNamespace?: boolean;
  /** That the image was built, and is not named in weir.yaml. */
  readonly built?: boolean;
  readonly folder?: string;
  readonly environmentFiles?: NonNullable<ProjectFunction["environmentFiles"]>;
  /** Variables that come from these files. */
  readonly fileVariables?: readonly string[];
  readonly build?: BuildSettings;
  readonly run?: RunSettings;
}

const begin = "weir.yaml: ";
const line = /^# weir\.yaml: (\{.*\})$/m;

const flag: FieldSchema = { type: "boolean" };

const recordSchema: FieldSchema = {
  type: "object",
  properties: {
    ...only(projectFields, ["gateway", "namespace"]),
    function: {
      type: "object",
      properties: {
        ...only(projectFunctionFields, ["folder", "environmentFiles", "build", "run"]),
        ownNamespace: flag,
        built: flag,
        fileVariables: { type: "array", items: { type: "string" } },
      },
    },
  },
};

function only(schemas: FieldSchemas, names: readonly string[]): Record<string, FieldSchema> {
  return Object.fromEntries(names.map((name) => [name, schemas[name] ?? {}]));
}

/** The record as the text of a comment: one line of ASCII; undefined when there is nothing to keep. */
export function recordComment(record: ProjectRecord): string | undefined {
  if (Object.keys(record).length === 0) return undefined;
  const json = JSON.stringify(record).replaceAll(/[^ -~]/g, (unit) => {
    return String.raw`\u` + unit.charCodeAt(0).toString(16).padStart(4, "0");
  });
  return begin + json;
}

/** The record in the comments before an object, with what is wrong with it; undefined when there is none. */
export async function recordIn(comments: string): Promise<(Fitted & { readonly at: number }) | undefined> {
  const [whole, json = ""] = line.exec(comments) ?? [];
  if (whole === undefined) return undefined;
  const { readLocated } = await import("../../project/read-located.ts");
  const { root, problems } = readLocated(json);
  const at = comments.indexOf(whole);
  if (root === undefined)
    return { value: undefined, misfits: [{ path: "", at, why: problems[0]?.sentence ?? "" }], at };
  return { ...fitToSchema(root, recordSchema), at };
}

/** What a Function object of this function would lose. */
export function recordOfFunction(
  project: Pick<ProjectFile, "gateway" | "namespace">,
  definition: ProjectFunction,
  fileVariables: readonly string[],
  isFirst: boolean,
): ProjectRecord {
  const { image, namespace, folder, environmentFiles, build, run } = definition;
  const function_: FunctionRecord = {
    ...(namespace !== undefined && namespace === project.namespace ? { ownNamespace: true } : {}),
    ...(image === undefined ? { built: true } : {}),
    ...defined({ folder, environmentFiles, build, run }),
    ...(fileVariables.length === 0 ? {} : { fileVariables }),
  };
  return {
    ...(isFirst ? defined({ gateway: project.gateway, namespace: project.namespace }) : {}),
    ...(Object.keys(function_).length === 0 ? {} : { function: function_ }),
  };
}

function defined<T extends object>(values: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Key in keyof T]?: NonNullable<T[Key]>;
  };
}
