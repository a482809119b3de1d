import { customResources, type CustomResource } from "../../../api/resources/custom-resources.ts";
import { isSecretName, namePattern } from "../../../api/grammar.ts";
import type { Located } from "../../project/located.ts";
import { patternWords } from "../../project/pattern-words.ts";
import { fitToSchema } from "../source/fit-schema.ts";
import { functionManifest, type Manifest, type ManifestMetadata } from "../write/function-manifest.ts";
import { importDeployment, type Deployed, type FieldNames } from "./import-deployment.ts";
import { callTimes, withTimeout, type ImportedTimes } from "./import-times.ts";
import { importObjectKeys } from "./import-keys.ts";
import type { MoveReport } from "../report/move-report.ts";
import type { SecretUse } from "../report/needed-secrets.ts";
import { entriesOf, sourceText, textsOf, type SourceDocument, type SourceEntries } from "../source/source-document.ts";
import { unsupportedKind } from "./unsupported-kind.ts";

/** What an object of a cluster becomes. */
type ImportedObject =
  | { readonly kind: "manifest"; readonly manifest: Manifest; readonly secrets: readonly SecretUse[] }
  /** A Function of Weir, for weir.yaml. */
  | { readonly kind: "function"; readonly metadata: ManifestMetadata; readonly deployed: Deployed }
  /** Nothing is written for it; secrets that it stands for must be made. */
  | { readonly kind: "none"; readonly secrets: readonly SecretUse[] };

/** Kinds of OpenFaaS that Weir has, too, by their group. */
const kinds: Readonly<Record<string, readonly CustomResource[]>> = {
  "openfaas.com": [customResources.function, customResources.profile],
  "iam.openfaas.com": [customResources.jwtIssuer, customResources.policy, customResources.role],
};

/** Where the objects of the platform are, in OpenFaaS and usually in Weir. */
const platformNamespaces = { from: "openfaas", to: "weir" } as const;

const sameNames: FieldNames = {
  image: ["image", "image"],
  labels: ["labels", "labels"],
  annotations: ["annotations", "annotations"],
  secrets: ["secrets", "secrets"],
  constraints: ["constraints", "constraints"],
  limits: ["limits", "limits"],
  requests: ["requests", "requests"],
  readOnlyRootFilesystem: ["readOnlyRootFilesystem", "readOnlyRootFilesystem"],
};

/** Fields of a Function object, and what they are called in another one, or in weir.yaml. */
const objectNames: FieldNames = {
  ...sameNames,
  handler: ["envProcess", "handler"],
  environment: ["envVars", "environment"],
};
const projectNames: FieldNames = {
  ...sameNames,
  handler: ["envProcess", "envProcess"],
  environment: ["envVars", "envVars"],
};

interface ObjectSource {
  readonly entries: SourceEntries;
  /** As in `Function hello`. */
  readonly title: string;
}

/** Reads one object; the report gets a row for each field that is there. */
export function importObject({ root }: SourceDocument, report: MoveReport, renameKeys: boolean): ImportedObject {
  const entries = entriesOf(root);
  const kind = sourceText(entries.get("kind")) ?? "";
  const [group = "", version] = (sourceText(entries.get("apiVersion")) ?? "").split("/");
  const name = sourceText(entriesOf(entries.get("metadata")).get("name")) ?? "";
  const source = { entries, title: `${kind} ${name}` };
  const isOurs = group === customResources.function.group && kind === customResources.function.kind;
  const resource = isOurs ? customResources.function : kinds[group]?.find((each) => each.kind === kind);
  if (resource === undefined) return refuseObject(source, group, kind, report);
  for (const key of ["apiVersion", "kind"]) {
    const place = { field: `${source.title}: ${key}`, at: entries.get(key)?.at ?? root.at };
    if (isOurs) report.dropped(place, "weir.yaml has functions only");
    else if (key === "kind") report.kept(place, key, key);
    else report.kept(place, `${group}/${version}`, `${resource.group}/${resource.version}`);
  }
  const metadata = importMetadata(source, resource, isOurs, report);
  reportRest(source, report);
  if (metadata === undefined) return { kind: "none", secrets: [] };
  if (resource === customResources.function) return importFunctionObject(source, metadata, isOurs, report, renameKeys);
  const spec = importSpec(source, resource, report);
  if (spec === undefined) return { kind: "none", secrets: [] };
  const manifest = { apiVersion: `${resource.group}/${resource.version}`, kind, metadata, spec };
  return { kind: "manifest", manifest, secrets: [] };
}

function importFunctionObject(
  { entries, title }: ObjectSource,
  metadata: ManifestMetadata,
  isOurs: boolean,
  report: MoveReport,
  renameKeys: boolean,
): ImportedObject {
  const spec = entries.get("spec");
  const fields = entriesOf(spec);
  const names = isOurs ? projectNames : objectNames;
  const times: ImportedTimes = isOurs
    ? { timeout: undefined, notes: new Map() }
    : callTimes(textsOf(fields.get("environment")), textsOf(fields.get("annotations")), false);
  const source = { entries: fields, field: `${title}: spec`, names, notes: times.notes };
  const deployed = withTimeout(importDeployment(source, report, { renameKeys, isStackFile: false }), times);
  for (const [key, value] of fields) {
    const place = { field: `${title}: spec.${key}`, at: value.at };
    if (Object.hasOwn(names, key)) continue;
    if (key === "name" && sourceText(value) === metadata.name) report.dropped(place, "metadata.name is the name");
    else if (key === "name") report.refused(place, "it is another name than metadata.name");
    else if (key === "replicas") report.dropped(place, "the autoscaler sets it, from com.service.scale.min on");
    else report.refused(place, "Weir has no such field");
  }
  if (deployed.image === undefined) {
    report.refused({ field: title, at: spec?.at ?? 0 }, "it has no image");
    return { kind: "none", secrets: [] };
  }
  if (isOurs) return { kind: "function", metadata, deployed };
  const secrets = (deployed.secrets ?? []).map((name) => ({ name, namespace: metadata.namespace }));
  return { kind: "manifest", manifest: functionManifest(metadata, deployed), secrets };
}

/** Name, namespace, labels and annotations; undefined when the name cannot be used. */
function importMetadata(
  { entries, title }: ObjectSource,
  resource: CustomResource,
  isOurs: boolean,
  report: MoveReport,
): ManifestMetadata | undefined {
  const metadata = entries.get("metadata");
  const pattern = resource.names?.pattern ?? namePattern.secret;
  let name: string | undefined;
  let rest: Omit<ManifestMetadata, "name"> = {};
  for (const [key, value] of entriesOf(metadata)) {
    const place = { field: `${title}: metadata.${key}`, at: value.at };
    switch (key) {
      case "name":
        name = textThatFits(value, pattern);
        if (name === undefined) report.refused(place, `expected ${patternWords(pattern)}`);
        else report.kept(place, key, key);
        break;
      case "namespace": {
        const namespace = textThatFits(value, namePattern.namespace);
        const moved = resource !== customResources.function && namespace === platformNamespaces.from;
        if (namespace === undefined) {
          report.refused(place, `expected ${patternWords(namePattern.namespace)}`);
        } else if (moved) {
          rest = { ...rest, namespace: platformNamespaces.to };
          report.kept(
            place,
            namespace,
            platformNamespaces.to,
            "namespace of the platform; change it if yours is another",
          );
        } else {
          rest = { ...rest, namespace };
          report.kept(place, key, key);
        }
        break;
      }
      case "labels":
      case "annotations":
        if (isOurs) report.refused(place, "weir.yaml has no labels and annotations of the object");
        else rest = { ...rest, ...objectKeys(key, importObjectKeys(value, place.field, report)) };
        break;
      default:
        report.dropped(place, "the cluster writes it");
    }
  }
  if (name === undefined) report.refused({ field: title, at: metadata?.at ?? 0 }, "it has no name that Weir takes");
  return name === undefined ? undefined : { name, ...rest };
}

function objectKeys(key: "labels" | "annotations", taken: Readonly<Record<string, string>>): Partial<ManifestMetadata> {
  return Object.keys(taken).length === 0 ? {} : { [key]: taken };
}

function textThatFits(source: Located, pattern: string): string | undefined {
  const { value } = fitToSchema(source, { type: "string", pattern, maxLength: 253 });
  return typeof value === "string" ? value : undefined;
}

/** Everything beside `apiVersion`, `kind`, `metadata` and `spec`. */
function reportRest({ entries, title }: ObjectSource, report: MoveReport): void {
  for (const [key, value] of entries) {
    const place = { field: `${title}: ${key}`, at: value.at };
    if (key === "status") report.dropped(place, "the operator writes it");
    else if (!["apiVersion", "kind", "metadata", "spec"].includes(key)) report.refused(place, "Weir has no such field");
  }
}

/** The spec of a kind that has the same fields in Weir; undefined when something that it needs does not fit. */
function importSpec({ entries, title }: ObjectSource, { spec }: CustomResource, report: MoveReport): unknown {
  const source = entries.get("spec");
  if (source === undefined) {
    report.refused({ field: `${title}: spec`, at: 0 }, "it is required");
    return undefined;
  }
  const { value, misfits } = fitToSchema(source, spec);
  for (const { path, at, why } of misfits) report.refused({ field: `${title}: spec${path}`, at }, why);
  if (value === undefined) report.refused({ field: title, at: source.at }, "what is left of it would not be the same");
  else
    for (const [key, each] of entriesOf(source))
      if (Object.hasOwn(value as object, key)) report.kept({ field: `${title}: spec.${key}`, at: each.at }, key, key);
  return value;
}

/** An object that Weir has no kind for. */
function refuseObject(
  { entries, title }: ObjectSource,
  group: string,
  kind: string,
  report: MoveReport,
): ImportedObject {
  const metadata = entriesOf(entries.get("metadata"));
  const [name = "", namespace] = [sourceText(metadata.get("name")), sourceText(metadata.get("namespace"))];
  const { why, instead, isSecret } = unsupportedKind(group, kind, name);
  const place = { field: title, at: entries.get("kind")?.at ?? 0 };
  report.refused(place, why, instead);
  for (const [key, value] of entries) {
    if (["apiVersion", "kind", "metadata"].includes(key)) continue;
    const parts = key === "spec" ? [...entriesOf(value)] : [];
    if (parts.length === 0) report.refused({ field: `${title}: ${key}`, at: value.at }, why);
    for (const [part, { at }] of parts) report.refused({ field: `${title}: ${key}.${part}`, at }, why);
  }
  return { kind: "none", secrets: isSecret && isSecretName(name) ? [{ name, namespace }] : [] };
}
