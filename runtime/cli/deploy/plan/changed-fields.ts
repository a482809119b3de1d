import { functionLabel } from "../../../api/names.ts";
import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { FunctionStatus } from "../../../api/schemas/function-status.ts";

/** A field that differs: `envVars.LEVEL`, `secrets`. Absent = it is not set. */
export interface ChangedField {
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

type Deployed = Omit<FunctionDeployment, "service" | "namespace">;

const maps = ["envVars", "labels", "annotations", "limits", "requests"] as const;
const lists = ["secrets", "constraints"] as const;
const single = ["image", "envProcess", "readOnlyRootFilesystem"] as const;

/** What a deployment changes in a function as it is deployed; everything, if there is none. */
export function changedFields(before: FunctionStatus | undefined, after: FunctionDeployment): readonly ChangedField[] {
  const [from, to] = [fieldsOf(before ?? {}), fieldsOf(after)];
  const paths = [...new Set([...from.keys(), ...to.keys()])];
  return paths.flatMap((path) => {
    const [old, fresh] = [from.get(path), to.get(path)];
    if (JSON.stringify(old) === JSON.stringify(fresh)) return [];
    return [{ path, ...(old === undefined ? {} : { before: old }), ...(fresh === undefined ? {} : { after: fresh }) }];
  });
}

/** The fields that are set, by their paths; empty lists, maps and texts are as good as none. */
function fieldsOf(deployed: Partial<Deployed>): ReadonlyMap<string, unknown> {
  const fields = new Map<string, unknown>();
  for (const name of single) {
    const value = deployed[name];
    if (value !== undefined && value !== "" && value !== false) fields.set(name, value);
  }
  for (const name of maps)
    for (const [key, value] of Object.entries(deployed[name] ?? {}))
      // The gateway shows it for every function.
      if (name !== "labels" || key !== functionLabel) fields.set(`${name}.${key}`, value);
  for (const name of lists) {
    const values = deployed[name] ?? [];
    if (values.length > 0) fields.set(name, values.toSorted());
  }
  return fields;
}
