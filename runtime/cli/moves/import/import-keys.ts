import type { Located } from "../../project/located.ts";
import { fitEntry } from "../source/fit-schema.ts";
import { deploymentFields } from "../source/function-schemas.ts";
import type { ImportSettings } from "./import-settings.ts";
import { fateOfKey, type KeyKind } from "./key-fate.ts";
import type { FieldPlace, MoveReport } from "../report/move-report.ts";
import { referenceNote, textByDefaults } from "../source/references.ts";
import { entriesOf, sourceText, type SourceEntries } from "../source/source-document.ts";

/** Value of annotation `topic` of functions that a connector calls by their annotation `schedule`. */
const cronTopic = "cron-function";

/** The labels or annotations that Weir takes; a row for each. `field` is the path of the map. */
export function importKeys(
  kind: KeyKind,
  entries: SourceEntries,
  field: string,
  report: MoveReport,
  { renameKeys, isStackFile }: ImportSettings,
): Readonly<Record<string, string>> {
  const taken: Record<string, string> = {};
  for (const [key, each] of entries) {
    const place = { field: `${field}.${key}`, at: each.at };
    const { value, misfits } = fitEntry(key, each, deploymentFields[kind], isStackFile);
    if (typeof value !== "string") {
      report.refused(place, misfits[0]?.why ?? "expected a text");
      continue;
    }
    const sample = isStackFile ? textByDefaults(value) : value;
    const fate = fateOfKey(kind, key, value, { rename: renameKeys, sample });
    if (fate.kind === "refused" && value === "") {
      report.dropped(place, "it is empty");
    } else if (fate.kind === "refused") {
      report.refused(place, fate.why, fate.instead);
    } else if (fate.key !== key && entries.has(fate.key)) {
      report.dropped(place, `${fate.key} is there, too, and wins`);
    } else {
      taken[fate.key] = fate.value;
      const note = (isStackFile ? referenceNote(each) : undefined) ?? fate.note;
      if (isTopic(kind, key, entries)) reportTopic(key, place, entries, report);
      else report.kept(place, `${kind}.${key}`, `${kind}.${fate.key}`, note);
    }
  }
  return taken;
}

/** Annotations that connectors beside the platform read. */
function isTopic(kind: KeyKind, key: string, entries: SourceEntries): boolean {
  return kind === "annotations" && (key === "topic" || (key === "schedule" && entries.has("topic")));
}

function reportTopic(key: string, place: FieldPlace, entries: SourceEntries, report: MoveReport): void {
  const name = `annotations.${key}`;
  if (sourceText(entries.get("topic")) !== cronTopic) report.kept(place, name, name, "for the connector that reads it");
  else if (key === "topic") report.kept(place, name, name);
  else
    report.refused(
      place,
      "this Weir has no schedules yet: the annotation is kept, but nothing calls the function by it",
      "weir invoke NAME --async, from a cron job",
    );
}

/** Labels or annotations of an object of Kubernetes, without those that its own tools write; a row for each. */
export function importObjectKeys(source: Located, field: string, report: MoveReport): Readonly<Record<string, string>> {
  const taken: Record<string, string> = {};
  for (const [key, each] of entriesOf(source)) {
    const place = { field: `${field}.${key}`, at: each.at };
    const text = sourceText(each);
    if (key.startsWith("kubectl.kubernetes.io/")) {
      report.dropped(place, "kubectl writes it");
    } else if (text === undefined) {
      report.refused(place, "expected a text");
    } else {
      taken[key] = text;
      report.kept(place, key, key);
    }
  }
  return taken;
}
