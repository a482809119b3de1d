import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type ParsedNode } from "yaml";

import { parseYaml } from "../yaml-document.ts";
import { checkIamManifest, type IamDocument } from "./iam-document.ts";
import type { IamFinding } from "./iam-sentence.ts";
import { readSimpleYaml } from "./simple-yaml.ts";

/** One document of a file: a manifest, or what is wrong with it. Lines count from 1. */
export type ReadManifest =
  | { readonly line: number; readonly document: IamDocument; readonly sentence?: undefined }
  | {
      readonly line: number;
      readonly document?: undefined;
      /** Kind and name, if they could be read. */
      readonly subject: string | undefined;
      readonly sentence: string;
    };

/** Most faults of a file that are described one by one. */
const maxFaults = 100;

const marker = /(?:^|\n)(?:---|\.\.\.)(?=[ \t\n]|$)/g;
const encoder = new TextEncoder();

/**
 * The manifests in a YAML file of any number of documents, one after the other: what is wrong with one does not touch
 * the next. Empty documents are left out. Each step takes less than 100 ms, most of them some microseconds.
 */
export function* readIamDocuments(text: string): Generator<ReadManifest, void> {
  let faults = 0;
  for (const { line, content } of documentsOf(text)) {
    const read = readDocument(content, line, faults < maxFaults);
    if (read === undefined) continue;
    if (read.document === undefined) faults += 1;
    if (faults <= maxFaults) yield read;
    else if (read.document !== undefined) yield read;
  }
  if (faults > maxFaults) {
    const sentence = `${faults - maxFaults} more documents of this file are wrong`;
    yield { line: 1, subject: undefined, sentence };
  }
}

/** Documents begin and end where a line begins with `---` or `...`, whatever stands before it (YAML 1.2, section 9.1). */
function* documentsOf(whole: string): Generator<{ readonly line: number; readonly content: string }> {
  const text = whole.includes("\r") ? whole.replaceAll(/\r\n?/g, "\n") : whole;
  let [start, line] = [0, 1];
  for (const match of text.matchAll(marker)) {
    const end = match[0].startsWith("\n") ? match.index + 1 : match.index;
    const content = text.slice(start, end);
    if (content !== "") yield { line, content };
    line += lineFeeds(content);
    start = end;
  }
  yield { line, content: text.slice(start) };
}

function readDocument(content: string, start: number, locate: boolean): ReadManifest | undefined {
  const [line, text] = content.startsWith("...")
    ? [start + 1, content.slice(content.indexOf("\n") + 1 || content.length + 1)]
    : [start, content];
  let value = readSimpleYaml(text);
  if (value === undefined) {
    try {
      value = parseYaml(encoder.encode(text));
    } catch (err) {
      return notYaml(err, line);
    }
    if (value === null) return undefined;
  }
  const { document, finding, ...about } = checkIamManifest(value);
  if (document !== undefined) return { line: line + linesBefore(text), document };
  const at = locate ? lineOf(text, finding) : 1;
  return { line: line + at - 1, subject: undefined, ...about, sentence: finding.sentence };
}

function notYaml(err: unknown, line: number): ReadManifest {
  const message = err instanceof Error ? err.message : String(err);
  const [, within = "1", reason = message] = /^line (\d+) is (.*)$/s.exec(message) ?? [];
  const sentence = reason === message ? reason : `it is ${reason}`;
  return { line: line + Number(within) - 1, subject: undefined, sentence };
}

/** The line of what is wrong, from 1; of the nearest thing around it if it is not there. */
function lineOf(text: string, { path, isKey }: IamFinding): number {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, {
    schema: "core",
    resolveKnownTags: false,
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter,
  });
  return lineCounter.linePos(offsetOf(document, path, isKey)).line;
}

function offsetOf(document: Document.Parsed, path: readonly string[], isKey: boolean): number {
  let node: ParsedNode | null = document.contents;
  let offset = node?.range[0] ?? 0;
  for (const [index, part] of path.entries()) {
    if (isAlias(node)) node = (node.resolve(document) ?? null) as ParsedNode | null;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
      if (pair === undefined) break;
      node = pair.value;
      offset = (isKey && index === path.length - 1 ? pair.key : (node ?? pair.key)).range[0];
      if (isMap(node) || isSeq(node)) offset = pair.key.range[0];
    } else if (isSeq(node)) {
      node = node.items[Number(part)] ?? null;
      offset = node?.range[0] ?? offset;
    } else break;
  }
  return offset;
}

/** Lines before the first one with content. */
function linesBefore(text: string): number {
  const [before = ""] = /^(?:(?:---)?[ \t]*(?:#[^\n]*)?\n)*/.exec(text) ?? [];
  return lineFeeds(before);
}

function lineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
