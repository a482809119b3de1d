import { isSecretName } from "../../../api/grammar.ts";
import type { FunctionDeployment } from "../../../api/schemas/function-deployment.ts";
import type { Located } from "../../project/located.ts";
import { fitEntry, fitToSchema, type Misfit } from "../source/fit-schema.ts";
import { deploymentFields } from "../source/function-schemas.ts";
import { importKeys } from "./import-keys.ts";
import type { ImportSettings } from "./import-settings.ts";
import type { ImportedTimes } from "./import-times.ts";
import { authKey } from "./key-fate.ts";
import type { FieldPlace, MoveReport } from "../report/move-report.ts";
import { referenceNote } from "../source/references.ts";
import { entriesOf, isEmpty, sourceText, type SourceEntries } from "../source/source-document.ts";

/** A field of a deployment, other than the name of the function. */
type DeploymentKey = Exclude<keyof FunctionDeployment, "service">;

/** A deployment that is being put together; each value fits its schema, except that `${NAME}` may stand in texts. */
export type Deployed = { [Key in DeploymentKey]?: FunctionDeployment[Key] };

/** By the name of a field where it comes from: what it is, and what it is called where it goes. */
export type FieldNames = Readonly<Record<string, readonly [property: DeploymentKey, to: string]>>;

interface DeploymentSource {
  readonly entries: SourceEntries;
  /** Path of the map, as in `functions.hello`. */
  readonly field: string;
  readonly names: FieldNames;
  /** Environment variables that are set elsewhere, too, which wins: where, by their names. */
  readonly overridden?: ReadonlyMap<string, string>;
  /** What is said of environment variables beside what becomes of them, by their names. */
  readonly notes?: ImportedTimes["notes"];
}

interface SourceField {
  readonly property: DeploymentKey;
  readonly source: Located;
  readonly place: FieldPlace;
  /** What it is called where it comes from, and where it goes. */
  readonly name: string;
  readonly to: string;
  readonly overridden: ReadonlyMap<string, string>;
  readonly notes: ImportedTimes["notes"];
}

/** The variable by which a function of OpenFaaS asks for a token. */
export const authVariable = "jwt_auth";

/** The fields of a deployment that Weir takes; a row for each that is there, or for each key of a map. */
export function importDeployment(
  { entries, field, names, overridden = new Map(), notes = new Map() }: DeploymentSource,
  report: MoveReport,
  settings: ImportSettings,
): Deployed {
  const taken: { [Key in DeploymentKey]?: unknown } = {};
  let asks = false;
  for (const [name, source] of entries) {
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (known === undefined) continue;
    const [property, to] = known;
    const place = { field: `${field}.${name}`, at: source.at };
    if (saysNothing(source, property, settings)) {
      report.dropped(place, "it is empty");
      continue;
    }
    const found = { property, source, place, name, to, overridden, notes };
    const value = fieldValue(found, report, settings);
    if (value !== undefined) taken[property] = value;
    if (property === "envVars" && asksForToken(found, report)) asks = true;
  }
  return asks ? withCredentials(taken as Deployed) : (taken as Deployed);
}

/** The same function, for callers whom the gateway knows. */
export function withCredentials(deployed: Deployed): Deployed {
  return { ...deployed, annotations: { ...deployed.annotations, [authKey]: "required" } };
}

function fieldValue(field: SourceField, report: MoveReport, settings: ImportSettings): unknown {
  const { property, source, place, name, to } = field;
  const entries = entriesOf(source);
  if (entries.size > 0) {
    switch (property) {
      case "labels":
      case "annotations":
        return unlessEmpty(importKeys(property, entries, place.field, report, settings));
      case "envVars":
      case "limits":
      case "requests":
        return unlessEmpty(mapValue(field, entries, report, settings));
      default:
    }
  }
  const { value, misfits } = fitToSchema(source, deploymentFields[property], settings.isStackFile);
  for (const each of misfits) refuse(each, field, report);
  if (value !== undefined) report.kept(place, name, to, settings.isStackFile ? referenceNote(source) : undefined);
  return value;
}

function unlessEmpty(map: Readonly<Record<string, unknown>>): object | undefined {
  return Object.keys(map).length === 0 ? undefined : map;
}

/** A map of texts: a row for each key. */
function mapValue(
  { property, place, name, to, overridden, notes }: SourceField,
  entries: SourceEntries,
  report: MoveReport,
  { isStackFile }: ImportSettings,
): Readonly<Record<string, unknown>> {
  const taken: Record<string, unknown> = {};
  for (const [key, each] of entries) {
    if (property === "envVars" && key === authVariable) continue;
    const at = { field: `${place.field}.${key}`, at: each.at };
    const { value, misfits } = fitEntry(key, each, deploymentFields[property], isStackFile);
    const meant =
      !isStackFile || property === "envVars" || key !== "memory" ? undefined : meantMemory(sourceText(each) ?? "");
    const said = property === "envVars" ? notes.get(key) : undefined;
    const winner = property === "envVars" ? overridden.get(key) : undefined;
    if (winner !== undefined) {
      report.dropped(at, `${winner} sets it, too, and wins`);
    } else if (value === undefined && sourceText(each) === "") {
      report.dropped(at, "it is empty");
    } else if (said?.refused === true) {
      report.refused(at, said.note);
    } else if (meant !== undefined) {
      report.refused(at, `${sourceText(each)} of memory is less than a byte`, meant);
    } else if (value === undefined) {
      report.refused(at, misfits.map(({ why }) => why).join("; "));
    } else {
      taken[key] = value;
      const note = [said?.note, isStackFile ? referenceNote(each) : undefined].filter((one) => one !== undefined);
      if (said?.warns === true) report.refused(at, note.join("; "));
      else report.kept(at, `${name}.${key}`, `${to}.${key}`, note.length === 0 ? undefined : note.join("; "));
    }
  }
  return taken;
}

/** Whether a field has no value, or an empty text where none may be. */
function saysNothing(source: Located, property: DeploymentKey, { isStackFile }: ImportSettings): boolean {
  if (isEmpty(source)) return true;
  return sourceText(source) === "" && fitToSchema(source, deploymentFields[property], isStackFile).misfits.length > 0;
}

/** `40Mi` for `40m`: on Docker Swarm that was 40 MiB, as a quantity it is 40 thousandths of a byte. */
function meantMemory(text: string): string | undefined {
  const [, amount] = /^(\d+)m$/.exec(text) ?? [];
  return amount === undefined ? undefined : `${amount}Mi`;
}

function refuse({ path, at, why }: Misfit, { property, source, place }: SourceField, report: MoveReport): void {
  const [, index] = /^\[(\d+)\]$/.exec(path) ?? [];
  const wrong =
    property === "secrets" && source.kind === "list" && index !== undefined
      ? sourceText(source.items[Number(index)])
      : "";
  const near = (wrong ?? "").toLowerCase().replaceAll(/[^a-z0-9.-]/g, "-");
  const instead = isSecretName(near) ? `${near}, in the function, too` : undefined;
  report.refused({ field: place.field + path, at }, why, instead);
}

/**
 * Whether a function asks for a token, which is the gateway's task here. Its variable is dropped: a watchdog of
 * OpenFaaS in its image would look for a gateway of OpenFaaS.
 */
function asksForToken({ source, place, name }: SourceField, report: MoveReport): boolean {
  const variable = entriesOf(source).get(authVariable);
  if (variable === undefined) return false;
  const at = { field: `${place.field}.${authVariable}`, at: variable.at };
  const asks = asksBy(sourceText(variable));
  if (asks) report.kept(at, `${name}.${authVariable}`, `annotations.${authKey}`, "required: the gateway asks");
  else report.dropped(at, "a function is open unless it says otherwise");
  return asks;
}

/** Whether a value of the variable asks for a token. */
export function asksBy(value: string | undefined): boolean {
  return value !== undefined && !["false", "0", ""].includes(value);
}
