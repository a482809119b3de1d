import type { Platform } from "./platform.ts";
import { bytesOfSize } from "./sizes.ts";

const kibibyte = 2 ** 10;
const mebibyte = 2 ** 20;

/** Measured bytes after a garbage collection: "Many namespaces on Kubernetes" in docs/contributing/performance.md. */
const held = { program: 40 * mebibyte, eachFunction: 5 * kibibyte, eachNamespace: 14 * kibibyte };
/** The old space needs room for garbage beyond that, else V8 would collect continually. */
const roomForGarbage = 1.2;
/** Bytes outside the old space: Node.js itself, its code, young objects, responses as they are read. */
const outsideOldSpace = 112 * mebibyte;
const youngObjects = "--max-semi-space-size=4";

/**
 * Memory limit of an operator pod in bytes: as set by the stack, else derived from the expected functions and
 * namespaces.
 */
export function operatorMemory({ memory, operator, manyNamespaces }: Platform): number {
  if (memory.operator !== undefined) return bytesOfSize(memory.operator);
  const namespaces = manyNamespaces ? operator.namespaces : 1;
  const holds = held.program + operator.functions * held.eachFunction + namespaces * held.eachNamespace;
  return outsideOldSpace + Math.ceil(roomForGarbage * holds);
}

/** Node.js options that keep the operator within `bytes`; without them V8 collects as late as the machine permits. */
export function operatorNodeOptions(bytes: number): readonly string[] {
  const oldSpace = Math.max(bytes - outsideOldSpace, bytes / 2);
  return [youngObjects, `--max-old-space-size=${Math.floor(oldSpace / mebibyte)}`];
}
