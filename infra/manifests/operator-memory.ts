import { bytesOfSize } from "./option-rules.ts";
import type { Platform } from "./platform.ts";

const kibibyte = 2 ** 10;
const mebibyte = 2 ** 20;

/** What the operator holds after a collection of garbage, in bytes, as measured: "Many namespaces on Kubernetes" in docs/contributing/performance.md. */
const held = { program: 40 * mebibyte, eachFunction: 5 * kibibyte, eachNamespace: 14 * kibibyte };
/** Beyond that the old space has room for garbage: V8 would collect all the time. */
const roomForGarbage = 1.2;
/** Beside the old space: Node.js itself, its code, young objects, answers as they are read. */
const outside = 104 * mebibyte;
const youngObjects = "--max-semi-space-size=4";

/** Bytes that a pod of the operator may take: those that the stack says, else what the functions and namespaces need that it expects. */
export function operatorMemory({ memory, operator, manyNamespaces }: Platform): number {
  if (memory.operator !== undefined) return bytesOfSize(memory.operator);
  const namespaces = manyNamespaces ? operator.namespaces : 1;
  const holds = held.program + operator.functions * held.eachFunction + namespaces * held.eachNamespace;
  return outside + Math.ceil(roomForGarbage * holds);
}

/** Options of Node.js with which the operator keeps to so many bytes: by itself V8 collects as late as the machine lets it. */
export function operatorNodeOptions(bytes: number): readonly string[] {
  const oldSpace = Math.max(bytes - outside, bytes / 2);
  return [youngObjects, `--max-old-space-size=${Math.floor(oldSpace / mebibyte)}`];
}
