import type { FunctionStatus } from "../../api/schemas/function-status.ts";
import type { Column } from "../output/format-table.ts";
import type { Output } from "../output/output.ts";
import { changeOf, type ComparedDeployment } from "./plan/compared-deployment.ts";
import { describeChange, withoutValues, type PlannedChange } from "./plan/describe-changes.ts";

/** Writes what would be done, for `--dry-run`. */
export async function showChanges(output: Output, compared: readonly ComparedDeployment[]): Promise<void> {
  const planned = compared.map(plannedChange);
  if (output.format === "table") return output.write(planned.map(describeChange).join(""));
  if (output.format === "name") return output.write(planned.map(({ name }) => `${name}\n`).join(""));
  return output.document(planned.map(withoutValues));
}

/** Writes the functions that were deployed; `address` is the gateway's. */
export async function showDeployed(
  output: Output,
  statuses: readonly FunctionStatus[],
  address: string,
  defaultNamespace: string,
): Promise<void> {
  if (statuses.length === 0 && output.format === "table") return;
  const columns: readonly Column<FunctionStatus>[] = [
    { title: "NAME", cell: ({ name }) => name },
    { title: "READY", cell: ({ availableReplicas, replicas }) => `${availableReplicas}/${replicas}`, align: "right" },
    { title: "IMAGE", cell: ({ image }) => image },
    {
      title: "ADDRESS",
      cell: ({ name, namespace }) =>
        `${address}/function/${name}${namespace === defaultNamespace ? "" : `.${namespace}`}`,
    },
  ];
  await output.list({ rows: statuses, columns, name: ({ name }) => name });
}

function plannedChange(compared: ComparedDeployment): PlannedChange {
  const { service: name, namespace } = compared.deployment;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    change: changeOf(compared),
    fields: compared.changes,
  };
}
