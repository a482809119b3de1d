import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Bytes of read buffers that may wait for the garbage collector. */
const mostGarbage = 4 * 1024 * 1024;

/**
 * Returns a function that is told of each buffer that was read and is no longer used, by its length. The engine itself
 * would let about 100 MB of them pile up, as it hardly counts memory outside its heap.
 */
export function garbageCollector(): (bytes: number) => void {
  let garbage = 0;
  let collect: ((options: { readonly type: "minor" }) => void) | undefined;
  return (bytes) => {
    garbage += bytes;
    if (garbage < mostGarbage) return;
    garbage = 0;
    collect ??= exposedCollector();
    collect({ type: "minor" });
  };
}

function exposedCollector(): (options: { readonly type: "minor" }) => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as (options: { readonly type: "minor" }) => void;
}
