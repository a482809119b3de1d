import type { CDPSession } from "playwright-core";

/** A heap snapshot as far as it is read here: `nodes` is one flat list, `node_fields` numbers for each. */
interface HeapSnapshot {
  readonly snapshot: {
    readonly meta: {
      readonly node_fields: readonly string[];
      /** The first has the names of the types of nodes. */
      readonly node_types: readonly [readonly string[], ...unknown[]];
    };
  };
  readonly nodes: readonly number[];
  readonly strings: readonly string[];
}

/** Of the engine's own: what it compiles, and how its objects are laid out. It grows with how often code was optimised. */
const ofEngine: ReadonlySet<string> = new Set(["code", "hidden", "object shape", "synthetic"]);
const engineName = "system /";

/** Bytes of the objects, texts and nodes of a page that are still reachable, after a collection of all others. */
export async function heldBytes(devtools: CDPSession): Promise<number> {
  await devtools.send("HeapProfiler.collectGarbage");
  const chunks: string[] = [];
  const keep = ({ chunk }: { readonly chunk: string }): void => void chunks.push(chunk);
  devtools.on("HeapProfiler.addHeapSnapshotChunk", keep);
  await devtools.send("HeapProfiler.takeHeapSnapshot", { reportProgress: false });
  devtools.off("HeapProfiler.addHeapSnapshotChunk", keep);
  return ownBytes(JSON.parse(chunks.join("")) as HeapSnapshot);
}

function ownBytes({ snapshot: { meta }, nodes, strings }: HeapSnapshot): number {
  const fields = meta.node_fields;
  const [type, name, size] = [fields.indexOf("type"), fields.indexOf("name"), fields.indexOf("self_size")];
  const [types] = meta.node_types;
  let sum = 0;
  for (let node = 0; node < nodes.length; node += fields.length) {
    const isOfEngine =
      ofEngine.has(types[nodes[node + type] ?? 0] ?? "") ||
      strings[nodes[node + name] ?? 0]?.startsWith(engineName) === true;
    if (!isOfEngine) sum += nodes[node + size] ?? 0;
  }
  return sum;
}
