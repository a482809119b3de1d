import { nearestName } from "../../api/closest-name.ts";
import { keyPrefixes } from "../../api/names.ts";
import {
  annotationRules,
  annotationsNotBuilt,
  expectedOf,
  labelRules,
  type KeyRules,
} from "../../api/schemas/key-rules.ts";
import { asText, entryAt, type Located, type LocatedMap, type LocatedPath } from "./located.ts";
import { problemAt, quoted, type ProjectProblem } from "./problem.ts";

const kinds = {
  labels: { rules: labelRules, others: [], word: "label", across: "annotations" },
  annotations: {
    rules: annotationRules,
    others: annotationsNotBuilt,
    word: "annotation",
    across: "labels",
  },
} as const satisfies Readonly<Record<string, KeyKind>>;

interface KeyKind {
  readonly rules: KeyRules;
  /** Known ones without a rule. */
  readonly others: readonly string[];
  readonly word: string;
  readonly across: "labels" | "annotations";
}

const [ours] = keyPrefixes;

/**
 * Problems of the keys that the platform reads in labels and annotations of a function: unknown ones below
 * `com.service.`, and values that break a rule. Keys below `com.openfaas.` may belong to other programs.
 */
export function* keyProblems(function_: Located, path: LocatedPath): Generator<ProjectProblem> {
  for (const field of ["labels", "annotations"] as const) {
    const map = entryAt(function_, field)?.value;
    if (map?.kind === "map") yield* mapKeyProblems(map, kinds[field], [...path, field]);
  }
}

function* mapKeyProblems({ entries }: LocatedMap, kind: KeyKind, path: LocatedPath): Generator<ProjectProblem> {
  for (const [key, { keyAt, value }] of entries) {
    const prefix = keyPrefixes.find((each) => key.startsWith(each));
    if (prefix === undefined) continue;
    const name = key.slice(prefix.length);
    const rule = Object.hasOwn(kind.rules, name) ? kind.rules[name] : undefined;
    if (rule === undefined) {
      if (prefix === ours && !kind.others.includes(name))
        yield problemAt(keyAt, [...path, key], unknownState(name, kind));
      continue;
    }
    const text = asText(value);
    // With both prefixes, ours wins.
    if (text === undefined || text.variables === "missing" || (prefix !== ours && entries.has(ours + name))) continue;
    if (rule.parse(text.value) !== undefined) continue;
    const got = text.variables === "none" ? `, got ${quoted(text.value)}` : "";
    yield problemAt(text.at, [...path, key], `expected ${expectedOf(rule)}${got}`);
  }
}

function unknownState(name: string, { rules, others, word, across }: KeyKind): string {
  const other = kinds[across];
  const elsewhere = [...Object.keys(other.rules), ...other.others];
  if (elsewhere.includes(name)) return `it belongs to ${across}`;
  const near = nearestName(name, [...Object.keys(rules), ...others]);
  if (near !== undefined) return `no such ${word}; did you mean ${ours}${near}?`;
  const far = nearestName(name, elsewhere);
  return far === undefined ? `no such ${word}` : `no such ${word}; did you mean ${ours}${far} in ${across}?`;
}
