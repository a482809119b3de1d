import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";

/** A key of the store with its value. */
export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
}

/** The etcd of a cluster of `scripts/cluster`, for tests that need more objects than the API server accepts in time. */
export interface ClusterStore {
  /** All keys below `prefix`. */
  keys(prefix: string): Promise<readonly string[]>;
  /** Undefined if there is no such key. */
  get(key: string): Promise<Buffer | undefined>;
  put(values: Iterable<StoredValue>): Promise<void>;
  remove(keys: Iterable<string>): Promise<void>;
  close(): void;
}

/** Operations that etcd accepts in one transaction, and how many transactions run at once. */
const batchSize = 100;
const concurrency = 4;
const success = 200;

interface RangeResponse {
  readonly kvs?: readonly { readonly key: string; readonly value?: string }[];
}

/** The store of the cluster that lives in `directory`. */
export async function openClusterStore(directory: string): Promise<ClusterStore> {
  const pki = (name: string): Promise<string> => readFile(join(directory, "pki", name), "utf8");
  const [url, ca, cert, key] = await Promise.all([
    readFile(join(directory, "etc", "etcd-url"), "utf8"),
    pki("ca.crt"),
    pki("apiserver-client.crt"),
    pki("apiserver-client.key"),
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency, ca, cert, key });
  const post = (path: string, body: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const sent = request(new URL(path, url.trim()), { agent, method: "POST" }, (response) => {
        const chunks: Buffer[] = [];
        response.on("error", reject).on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          if (response.statusCode === success) resolve(JSON.parse(text));
          else reject(new Error(`Cannot ask etcd for ${path}: ${response.statusCode} ${text}`));
        });
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  const change = async (operations: Iterator<object>): Promise<void> => {
    const sendBatches = async (): Promise<void> => {
      for (let batch = nextBatch(operations); batch.length > 0; batch = nextBatch(operations))
        await post("/v3/kv/txn", { success: batch });
    };
    await Promise.all(Array.from({ length: concurrency }, sendBatches));
  };
  return {
    keys: async (prefix) => {
      const range = { key: encoded(prefix), range_end: encoded(after(prefix)), keys_only: true };
      const { kvs = [] } = (await post("/v3/kv/range", range)) as RangeResponse;
      return kvs.map((each) => decoded(each.key).toString("utf8"));
    },
    get: async (name) => {
      const { kvs = [] } = (await post("/v3/kv/range", { key: encoded(name) })) as RangeResponse;
      const [found] = kvs;
      return found && decoded(found.value ?? "");
    },
    put: (values) =>
      change(
        Iterator.from(values).map(({ key: name, value }) => ({
          requestPut: { key: encoded(name), value: value.toString("base64") },
        })),
      ),
    remove: (keys) => change(Iterator.from(keys).map((name) => ({ requestDeleteRange: { key: encoded(name) } }))),
    close: () => agent.destroy(),
  };
}

function nextBatch<T>(values: Iterator<T>): readonly T[] {
  const batch: T[] = [];
  while (batch.length < batchSize) {
    const next = values.next();
    if (next.done === true) break;
    batch.push(next.value);
  }
  return batch;
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decoded(text: string): Buffer {
  return Buffer.from(text, "base64");
}

/** The first key that does not begin with `prefix`, which is ASCII. */
function after(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCodePoint((prefix.codePointAt(prefix.length - 1) ?? 0) + 1);
}
