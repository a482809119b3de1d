import { readFile } from "node:fs/promises";
import { Agent, request } from "node:https";
import { join } from "node:path";

/** One key of the store, and what is under it. */
export interface StoredValue {
  readonly key: string;
  readonly value: Buffer;
}

/** The store of a cluster of `scripts/cluster`, past its API server: for tests that need more objects than it takes in time. */
export interface ClusterStore {
  /** All keys below `prefix`. */
  keys(prefix: string): Promise<readonly string[]>;
  /** Undefined when there is no such key. */
  get(key: string): Promise<Buffer | undefined>;
  put(values: Iterable<StoredValue>): Promise<void>;
  remove(keys: Iterable<string>): Promise<void>;
  close(): void;
}

/** What etcd takes in one transaction, and some lanes of them. */
const mostInOne = 100;
const lanes = 4;
const success = 200;

interface RangeAnswer {
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
  const agent = new Agent({ keepAlive: true, maxSockets: lanes, ca, cert, key });
  const ask = (path: string, body: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const sent = request(new URL(path, url.trim()), { agent, method: "POST" }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("error", reject).on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8");
          if (answer.statusCode === success) resolve(JSON.parse(text));
          else reject(new Error(`Cannot ask etcd for ${path}: ${answer.statusCode} ${text}`));
        });
      });
      sent.on("error", reject).end(JSON.stringify(body));
    });
  const change = async (operations: Iterator<object>): Promise<void> => {
    const lane = async (): Promise<void> => {
      for (let some = take(operations); some.length > 0; some = take(operations))
        await ask("/v3/kv/txn", { success: some });
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  };
  return {
    keys: async (prefix) => {
      const range = { key: encoded(prefix), range_end: encoded(after(prefix)), keys_only: true };
      const { kvs = [] } = (await ask("/v3/kv/range", range)) as RangeAnswer;
      return kvs.map((each) => decoded(each.key).toString("utf8"));
    },
    get: async (name) => {
      const { kvs = [] } = (await ask("/v3/kv/range", { key: encoded(name) })) as RangeAnswer;
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

function take<T>(values: Iterator<T>): readonly T[] {
  const portion: T[] = [];
  while (portion.length < mostInOne) {
    const next = values.next();
    if (next.done === true) break;
    portion.push(next.value);
  }
  return portion;
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
