import { getHeapStatistics } from "node:v8";

import { PlatformError } from "../../../runtime/api/platform-error.ts";
import { parseJsonBody } from "../../../runtime/gateway/rest/json/json-body.ts";
import { parseYaml } from "../../../runtime/api/yaml-document.ts";
import { mustHold, type FuzzTarget } from "../fuzz-target.ts";

const maxTime = 100;
const maxAllocated = 50_000_000;
const maxDepth = 32;
/** A pause of the machine is not a fault of the code, so only what is too slow each time counts. */
const attempts = 4;

interface Reading {
  readonly value: unknown;
  readonly refused: boolean;
  /** CPU time of this thread in milliseconds. */
  readonly time: number;
  /** Bytes allocated in all, kept or not. */
  readonly allocated: number;
}

/** Throws unless `read` returns shallow data without prototypes or refuses, in bounded time and memory. */
export function checkDocument(read: () => unknown, isRefusal: (err: unknown) => boolean): void {
  const prototypes = [Object.prototype, Array.prototype, Function.prototype].map(
    (each) => Reflect.ownKeys(each).length,
  );
  let reading = measure(read, isRefusal);
  for (let left = attempts; left > 0 && reading.time > maxTime; left -= 1) reading = measure(read, isRefusal);
  mustHold(reading.time <= maxTime, `it takes ${Math.round(reading.time)} ms`);
  mustHold(reading.allocated <= maxAllocated, `it takes ${Math.round(reading.allocated / 1e6)} MB`);
  const after = [Object.prototype, Array.prototype, Function.prototype].map((each) => Reflect.ownKeys(each).length);
  mustHold(after.join() === prototypes.join(), "a prototype was touched");
  if (!reading.refused) checkValue(reading.value, 1);
}

function measure(read: () => unknown, isRefusal: (err: unknown) => boolean): Reading {
  const allocatedBefore = getHeapStatistics().total_allocated_bytes;
  const cpuBefore = process.threadCpuUsage();
  let value: unknown;
  let refused = false;
  try {
    value = read();
  } catch (err) {
    if (!isRefusal(err)) throw err;
    refused = true;
  }
  const { user, system } = process.threadCpuUsage(cpuBefore);
  const allocated = getHeapStatistics().total_allocated_bytes - allocatedBefore;
  return { value, refused, time: (user + system) / 1_000, allocated };
}

function checkValue(value: unknown, level: number): void {
  if (typeof value !== "object" || value === null) return;
  mustHold(level <= maxDepth, `nested ${level} levels deep`);
  if (Array.isArray(value)) {
    for (const item of value) checkValue(item, level + 1);
    return;
  }
  mustHold(Object.getPrototypeOf(value) === null, "an object has a prototype");
  for (const [key, member] of Object.entries(value)) {
    mustHold(key !== "__proto__" && key !== "constructor", `key "${key}" is there`);
    checkValue(member, level + 1);
  }
}

const isPlatformError = (err: unknown): boolean => err instanceof PlatformError && err.code === "malformed_request";
/** An error that is meant as a refusal, not a failure of our own code. */
const isPlainError = (err: unknown): boolean =>
  err instanceof Error &&
  (err.constructor === Error || ("code" in err && err.code === "ERR_ENCODING_INVALID_ENCODED_DATA"));

export const jsonBody: FuzzTarget = {
  name: "json-body",
  promises: "a body gives plain data or a refusal, in 100 ms and 50 MB, and touches no prototype",
  maxBytes: 2_097_152,
  words: [
    ...'{ } [ ] , : " \\" \\u0061 \\\\ null true 1e999 -0 [] {} "a" "a": "__proto__": "constructor": \\u005f [[[[ ]]]]'.split(
      " ",
    ),
    "\xef\xbb\xbf",
    "\xff",
    "\n",
  ],
  seeds: [
    '{"service":"echo","image":"x","labels":{"a":"b"},"secrets":["s"],"limits":null}',
    '{"a":1,"\\u0061":2}',
    '{"__proto__":{"x":1}}',
    "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]",
    `[${"{},".repeat(600_000)}{}]`,
    `[${"[],".repeat(600_000)}{}]`,
    `{${Array.from({ length: 150_000 }, (_, index) => `"${index}":0`).join(",")}}`,
    `"${"\\u00e9".repeat(340_000)}"`,
    `{"\\&"${":".repeat(800_000)}`,
    `{${Array.from({ length: 150_000 }, (_, index) => `"\\u006${index % 10}${index}":`).join("")}`,
  ],
  run: (input) => checkDocument(() => parseJsonBody(input), isPlatformError),
};

export const yamlDocument: FuzzTarget = {
  name: "yaml-document",
  promises: "a settings file gives plain data or a refusal, in 100 ms and 50 MB, and touches no prototype",
  maxBytes: 65_536,
  words: [
    ..."- ? : , [ ] { } & * ! !! | > ' \" # % @ ` --- ... &a *a <<: !!str !!binary !!set ~ .inf 0x1 __proto__: constructor:".split(
      " ",
    ),
    " ",
    "\n",
    "\n  ",
    "\t",
    "%YAML 1.1\n",
    "\xff",
  ],
  seeds: [
    "port: 8080\nqueues:\n  slow: {replicas: 2, timeout: 5m}\nallowed_origins:\n- a\n- b\n",
    "a: &a [1, 2]\nb: *a\nc: |\n  text\n  more\nd: >-\n  x\n",
    "a: 1\na: 2\n",
    "__proto__: {x: 1}\n",
    "--- a\n--- b\n",
    "!!binary aGk=",
    "? ".repeat(30_000),
    "[".repeat(60_000),
    "- ".repeat(30_000),
    "a:\n".repeat(20_000),
    Array.from({ length: 9_000 }, (_, index) => `k${index}:`).join("\n"),
    `a: &a x\nb: [${"*a,".repeat(2_000)}]`,
    "&a [*a]",
  ],
  run: (input) => checkDocument(() => parseYaml(input), isPlainError),
};
