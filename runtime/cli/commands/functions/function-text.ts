import type { Condition, FunctionStatus } from "../../../api/schemas/function-status.ts";
import { ageText, localTime } from "../../output/age-text.ts";
import { formatFields, type Field } from "../../output/format-fields.ts";
import { formatTable, type Column } from "../../output/format-table.ts";

/** A function for people: its conditions, those that need somebody first, then its facts; `now` in Unix milliseconds. */
export function functionText(status: FunctionStatus, now: number = Date.now()): string {
  const columns: readonly Column<Condition>[] = [
    { title: "CONDITION", cell: ({ type }) => type },
    { title: "STATUS", cell: (condition) => condition.status },
    { title: "SINCE", cell: ({ lastTransitionTime }) => ageText(lastTransitionTime, now), align: "right" },
    { title: "REASON", cell: ({ reason }) => reason },
    { title: "MESSAGE", cell: ({ message }) => message },
  ];
  return `${formatTable(columns, conditionsInOrder(status.conditions))}\n${formatFields(fieldsOf(status, now))}`;
}

/** Stalled first if it is true, as a person has to do something; the others as they come. */
export function conditionsInOrder(conditions: readonly Condition[]): readonly Condition[] {
  const stalled = (condition: Condition): boolean => condition.type === "Stalled" && condition.status === "True";
  return [...conditions.filter(stalled), ...conditions.filter((condition) => !stalled(condition))];
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function fieldsOf(status: FunctionStatus, now: number): readonly Field[] {
  const { usage } = status;
  return [
    ["name", status.name],
    ["namespace", status.namespace],
    ["replicas", `${status.availableReplicas} of ${status.replicas} ready`],
    ["usage", usage && `${Math.round(usage.cpu)}m of CPU, ${mebibytes(usage.totalMemoryBytes)} of memory`],
    ["calls", String(status.invocationCount)],
    ["queue", status.queue],
    ["created", `${localTime(status.createdAt)} (${ageText(status.createdAt, now)} ago)`],
    ["generation", String(status.generation)],
    ["image", status.image],
    ["process", status.envProcess],
    ["read-only", status.readOnlyRootFilesystem === true ? "root file system" : undefined],
    ...listField("secrets", status.secrets),
    ...listField("constraints", status.constraints),
    ...listField("limits", linesOf(status.limits)),
    ...listField("requests", linesOf(status.requests)),
    ...listField("environment", linesOf(status.envVars)),
    ...listField("labels", linesOf(status.labels)),
    ...listField("annotations", linesOf(status.annotations)),
  ];
}

/** The label stands beside the first value. */
function listField(label: string, values: readonly string[] = []): readonly Field[] {
  return values.map((value, index) => [index === 0 ? label : "", value]);
}

function linesOf(map: Readonly<Record<string, string | undefined>> = {}): readonly string[] {
  return Object.entries(map).map(([key, value]) => `${key}=${value ?? ""}`);
}
