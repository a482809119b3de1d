import { createHash } from "node:crypto";
import { constants, type BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { getuid } from "node:process";
import { setImmediate as turn } from "node:timers/promises";

import { iamFileLimit } from "../../../api/iam/iam-files.ts";
import { readIamDocuments } from "../../../api/iam/read-iam-documents.ts";
import type { AccessDocument } from "../../../core/access/build-rule-set.ts";
import type { RuleFault } from "../../../core/access/rule-set.ts";
import { codeOf, fileState, readFailure, writableByOthers } from "./list-rule-files.ts";

/** Milliseconds of reading documents between turns of the event loop. */
const longestSlice = 10;
/** Milliseconds. A file that changed this shortly before it was read may change again without a sign of it. */
const clockStep = 2_000;

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** What a file holds. */
export interface RuleFile {
  /** See `fileState`; as it was when the file was read. */
  readonly state: string;
  /** Whether an equal state means equal content. */
  readonly isCertain: boolean;
  /** Of its bytes, or of why they do not count. */
  readonly digest: string;
  readonly documents: readonly AccessDocument[];
  readonly faults: readonly RuleFault[];
}

export type RuleFileReading =
  /** `known` itself, with another state, if its content is the same. */
  | { readonly kind: "read"; readonly file: RuleFile }
  | { readonly kind: "gone" }
  /** The system could not read it, which says nothing about its content. */
  | { readonly kind: "failed"; readonly fault: RuleFault };

/** A file to read. */
export interface RuleFileRequest {
  readonly path: string;
  /** Its state as it was listed. */
  readonly state: string;
  /** User id of the owner of the directory. */
  readonly directoryOwner: bigint;
  /** What was read of it last. */
  readonly known: RuleFile | undefined;
}

/**
 * Reads and judges one file. A link, and a file that others than the owner of the directory, root and this user may
 * write, do not count: what is read is a fault.
 */
export async function readRuleFile(request: RuleFileRequest): Promise<RuleFileReading> {
  const { path, known } = request;
  const name = basename(path);
  const fault = (sentence: string): RuleFault => ({ subject: `file "${name}"`, place: name, sentence });
  const refused = (state: string, why: string): RuleFileReading => {
    const faults = [fault(leftOut(why))];
    return { kind: "read", file: { state, isCertain: true, digest: why, documents: [], faults } };
  };
  const startedAt = Date.now();
  try {
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const facts = await file.stat({ bigint: true });
    const state = fileState(facts);
    const refusal = refusalOf(facts, request);
    if (refusal !== undefined) return refused(state, refusal);
    const bytes = await file.readFile();
    const isChanging = fileState(await file.stat({ bigint: true })) !== state;
    const isCertain = !isChanging && startedAt - Number(facts.ctimeMs) > clockStep;
    const digest = createHash("sha256").update(bytes).digest("hex");
    if (digest === known?.digest) return { kind: "read", file: { ...known, state, isCertain } };
    const content = await contentOf(bytes, name);
    return { kind: "read", file: { state, isCertain, digest, ...content } };
  } catch (err) {
    const code = codeOf(err);
    if (code === "ENOENT") return { kind: "gone" };
    // The system says so of a link that is not to be followed.
    if (code === "ELOOP") return refused(request.state, "it is a symbolic link");
    return { kind: "failed", fault: fault(readFailure(err)) };
  }
}

function refusalOf(facts: BigIntStats, { path, directoryOwner }: RuleFileRequest): string | undefined {
  if (!facts.isFile()) return "it is not a regular file";
  const { uid, size } = facts;
  const writable = writableByOthers(facts, path);
  if (writable !== undefined) return writable;
  if (![directoryOwner, 0n, BigInt(getuid?.() ?? 0)].includes(uid))
    return `its owner (user ${uid}) is neither the owner of the directory nor root nor this user`;
  return size < iamFileLimit ? undefined : `it has ${size} bytes: expected fewer than ${iamFileLimit}`;
}

async function contentOf(bytes: Uint8Array, name: string): Promise<Pick<RuleFile, "documents" | "faults">> {
  const documents: AccessDocument[] = [];
  const faults: RuleFault[] = [];
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    const sentence = leftOut("it is not UTF-8 text");
    return { documents, faults: [{ subject: `file "${name}"`, place: name, sentence }] };
  }
  let sliceStart = performance.now();
  for (const read of readIamDocuments(text)) {
    const place = `${name}:${read.line}`;
    if (read.document !== undefined) documents.push({ ...read.document, place });
    else faults.push({ subject: read.subject ?? `file "${name}"`, place, sentence: leftOut(read.sentence) });
    if (performance.now() - sliceStart < longestSlice) continue;
    await turn();
    sliceStart = performance.now();
  }
  return { documents, faults };
}

function leftOut(why: string): string {
  return `it is left out: ${why}`;
}
