import { nearestName } from "../../api/closest-name.ts";
import type { FunctionDeployment } from "../../api/schemas/function-deployment.ts";
import { annotationRules, annotationsNotBuilt, labelRules, localAnnotationRules } from "../../api/schemas/key-rules.ts";
import { keyPrefixes } from "../../api/names.ts";
import { quote } from "../quote.ts";

const [ours] = keyPrefixes;
const known = {
  label: Object.keys(labelRules),
  annotation: Object.keys({ ...annotationRules, ...localAnnotationRules }),
} as const;
const other = { label: "annotation", annotation: "label" } as const;

type KeyKind = keyof typeof known;

/**
 * The error sentence for a key below `com.service.` that is unknown where it stands; undefined when all are known. A
 * misspelt key would otherwise be stored without effect. Keys below `com.openfaas.` may belong to other programs of
 * that family.
 */
export function unknownKey({ labels, annotations }: FunctionDeployment): string | undefined {
  return firstUnknown("label", labels) ?? firstUnknown("annotation", annotations);
}

function firstUnknown(kind: KeyKind, texts: FunctionDeployment["labels"]): string | undefined {
  const key = Object.keys(texts ?? {}).find(
    (one) => one.startsWith(ours) && !known[kind].includes(one.slice(ours.length)),
  );
  return key === undefined ? undefined : `Cannot read ${kind} ${quote(key)}: ${stateOf(kind, key.slice(ours.length))}`;
}

function stateOf(kind: KeyKind, name: string): string {
  if (kind === "annotation" && annotationsNotBuilt.includes(name)) return "it is not built yet";
  const otherKind = other[kind];
  if (known[otherKind].includes(name)) return `it is ${withArticle(otherKind)}, not ${withArticle(kind)}`;
  const near = nearestName(name, known[kind]);
  if (near !== undefined) return `there is no such ${kind}; did you mean ${quote(ours + near)}?`;
  const across = nearestName(name, known[otherKind]);
  if (across === undefined) return `there is no such ${kind}`;
  return `there is no such ${kind}; did you mean ${otherKind} ${quote(ours + across)}?`;
}

function withArticle(kind: KeyKind): string {
  return kind === "label" ? "a label" : "an annotation";
}
