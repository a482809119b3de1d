import { afterEach, beforeEach, expect, test } from "vitest";

import { KubeClient } from "../../../../../runtime/adapters/kubernetes/client/client.ts";
import { kinds } from "../../../../../runtime/adapters/kubernetes/client/kinds.ts";
import type { FunctionObject } from "../../../../../runtime/adapters/kubernetes/manifests/function-custom-resource.ts";
import { CallbackSecretCopies } from "../../../../../runtime/adapters/kubernetes/operator/callback-secret-copies.ts";
import type { SecretChange } from "../../../../../runtime/adapters/kubernetes/operator/core-secrets.ts";
import type { CoreSecret } from "../../../../../runtime/adapters/kubernetes/stores/secret-reference.ts";
import type { ObjectChange } from "../../../../../runtime/adapters/kubernetes/watch/object-cache.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../support/kubernetes-api.ts";

const namespace = "functions";
const platformNamespace = "weir";
const file = (name: string, of = namespace) => `callback-secret.${of}.${name}`;
let api: KubernetesApi;
let client: KubeClient;
let functions: Map<string, FunctionObject>;
let changeFunction: (change: ObjectChange<FunctionObject>) => void;
let changeSecret: (change: SecretChange) => void;
let copies: CallbackSecretCopies;
let changed: string[];

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test" });
  functions = new Map();
  changed = [];
  put({ metadata: { namespace: platformNamespace, name: "callback-secrets" } });
  copies = build();
});
afterEach(async () => {
  await copies.close();
  await client.close();
  await api.close();
});

function build(): CallbackSecretCopies {
  return new CallbackSecretCopies(client, {
    platformNamespace,
    functions: {
      synced: Promise.resolve(),
      entries: () => functions.entries() as ReturnType<typeof functions.entries> & Generator<[string, FunctionObject]>,
      listen: (listener) => {
        changeFunction = listener;
        return () => {};
      },
    },
    secrets: {
      listen: (listener) => {
        changeSecret = listener;
        return () => {};
      },
    },
  });
}

/** Deploys a function that names a secret; undefined: it names none; "removed": it is gone. */
function deploy(name: string, secret: string | undefined, of = namespace): void {
  const key = `${of}/${name}`;
  const before = functions.get(key);
  if (secret === "removed") functions.delete(key);
  else {
    const annotations = secret === undefined ? {} : { "com.service.callback.secret": secret };
    functions.set(key, { metadata: { namespace: of, name }, spec: { image: "x", annotations } } as FunctionObject);
  }
  changeFunction?.({ key, before, after: functions.get(key) });
}

function write(name: string, value: string, of = namespace): string {
  const encoded = Buffer.from(value).toString("base64");
  put({ metadata: { namespace: of, name }, data: { [name]: encoded } });
  return encoded;
}

function put(secret: CoreSecret): void {
  api.store.write(kinds.coreSecret, secret);
}

/** Reconciles what has changed since, and once more, as a resync does; the copies that then exist. */
async function reconciled(): Promise<object> {
  for (const key of changed.splice(0)) await copies.reconcile(key);
  for (const key of copies.keys()) await copies.reconcile(key);
  const object = api.store.get("secrets", platformNamespace, "callback-secrets") as { readonly data?: object };
  return object.data ?? {};
}

/** How often the Secret with all copies was read since the last call. */
function readsOfCopies(): number {
  const path = `/api/v1/namespaces/${platformNamespace}/secrets/callback-secrets`;
  return api.requests.splice(0).filter((request) => request.method === "GET" && request.path === path).length;
}

const open = () => copies.open((key) => changed.push(key));
const [one, two, other] = ["1", "2", "3"].map((each) => each.repeat(32)) as [string, string, string];

test("copies exactly the secrets that functions name for their callbacks, each from its own namespace", async () => {
  const first = write("a", one);
  const second = write("a", two, "dev");
  write("not-named", other);
  deploy("f", "a");
  deploy("g", "a", "dev");
  deploy("h", undefined);
  await open();
  expect(await reconciled()).toEqual({ [file("a")]: first, [file("a", "dev")]: second });
});

test("a secret has a copy until the last function that names it is gone, or names another one", async () => {
  await open();
  const [a, b] = [write("a", one), write("b", two)];
  deploy("f", "a");
  deploy("g", "a");
  expect(await reconciled()).toEqual({ [file("a")]: a });
  deploy("f", "b");
  expect(await reconciled()).toEqual({ [file("a")]: a, [file("b")]: b });
  deploy("g", "removed");
  expect(await reconciled()).toEqual({ [file("b")]: b });
  deploy("f", undefined);
  expect(await reconciled()).toEqual({});
  expect([...copies.keys()]).toEqual(["callback-secrets"]);
});

test("a changed secret is copied again, one that becomes unusable has no copy, and nothing else is read", async () => {
  await open();
  write("a", one);
  deploy("f", "a");
  await reconciled();
  const second = write("a", two);
  changeSecret({ namespace, name: "a", isFirst: false });
  changeSecret({ namespace, name: "foreign", isFirst: false });
  expect(changed).toEqual([file("a")]);
  expect(await reconciled()).toEqual({ [file("a")]: second });
  write("a", "too short");
  changeSecret({ namespace, name: "a", isFirst: false });
  expect(await reconciled()).toEqual({});
});

test("one that does not exist yet is read again after 5 s, and copied then", async () => {
  await open();
  deploy("f", "a");
  expect(await copies.reconcile(file("a"))).toBe(5_000);
  const a = write("a", one);
  expect(await copies.reconcile(file("a"))).toBeUndefined();
  expect(await reconciled()).toEqual({ [file("a")]: a });
});

test("a name that breaks the grammar is not looked up", async () => {
  deploy("f", "../../weir/secrets/nats-gateway");
  await open();
  expect(changed).toEqual(["callback-secrets"]);
});

test("a copy that is removed as a leftover while a function comes to name it is made again", async () => {
  const a = write("a", one);
  put({ metadata: { namespace: platformNamespace, name: "callback-secrets" }, data: { [file("a")]: a } });
  await open();
  api.faults.refuse = ({ method }) => {
    if (method === "PATCH") {
      deploy("f", "a");
      // As if the copy had been made before this request took effect.
      changed.length = 0;
    }
    return undefined;
  };
  await copies.reconcile("callback-secrets");
  api.faults.refuse = undefined;
  expect(changed).toEqual([file("a")]);
  expect(await reconciled()).toEqual({ [file("a")]: a });
});

test("without a change it writes nothing", async () => {
  await open();
  write("a", one);
  deploy("f", "a");
  await reconciled();
  api.requests.splice(0);
  await reconciled();
  expect(api.requests.map(({ method }) => method)).not.toContain("PATCH");
});

test("what an earlier operator copied and no function names any more is removed at the start", async () => {
  const data = { [file("old")]: Buffer.from(one).toString("base64"), unknown: "eA==" };
  put({ metadata: { namespace: platformNamespace, name: "callback-secrets" }, data });
  const a = write("a", one);
  deploy("f", "a");
  await open();
  expect(await reconciled()).toEqual({ [file("a")]: a });
});

test("an operator that was no leader when a function went removes its copy once it leads", async () => {
  const a = write("a", one);
  deploy("f", "a");
  await open();
  // The leader of that time.
  put({ metadata: { namespace: platformNamespace, name: "callback-secrets" }, data: { [file("a")]: a } });
  deploy("f", "removed");
  changed.length = 0;
  expect(await reconciled()).toEqual({});
});

test("the Secret is not created: without it a copy fails, and only if there is something to copy", async () => {
  api.store.remove("secrets", platformNamespace, "callback-secrets");
  await open();
  deploy("f", "a");
  expect(await copies.reconcile("callback-secrets")).toBeUndefined();
  expect(await copies.reconcile(file("a"))).toBe(5_000);
  write("a", one);
  await expect(copies.reconcile(file("a"))).rejects.toThrow(
    'Cannot copy a secret of callbacks to Secret "weir/callback-secrets": it does not exist',
  );
  expect(api.requests.map(({ method }) => method)).not.toContain("POST");
});

test("50 copies are read once in a round, together, and not at all for a change", async () => {
  const names = Array.from({ length: 50 }, (_, index) => `secret-${index}`);
  const values = names.map((name, index) => write(name, String(index).padStart(32, "x")));
  for (const name of names) deploy(`f-${name}`, name);
  await open();
  api.requests.length = 0;
  const round = () => Promise.all([...copies.keys()].map((key) => copies.reconcile(key)));
  await round();
  expect(readsOfCopies()).toBe(1);
  await round();
  expect(readsOfCopies()).toBe(1);
  const object = api.store.get("secrets", platformNamespace, "callback-secrets") as { readonly data?: object };
  expect(object.data).toEqual(Object.fromEntries(names.map((name, index) => [file(name), values[index]])));
  write("secret-7", two);
  await copies.reconcile(file("secret-7"));
  deploy("f-secret-8", "removed");
  await copies.reconcile(file("secret-8"));
  expect(readsOfCopies()).toBe(0);
  const { length } = Object.keys(await reconciled());
  expect(length).toBe(49);
});

test("what others change in the copies is found in the next round, and mended", async () => {
  const [a, b] = [write("a", one), write("b", two)];
  deploy("f", "a");
  deploy("g", "b");
  await open();
  expect(await reconciled()).toEqual({ [file("a")]: a, [file("b")]: b });
  put({ metadata: { namespace: platformNamespace, name: "callback-secrets" }, data: { [file("a")]: b, odd: b } });
  await copies.reconcile("callback-secrets");
  expect(changed.toSorted()).toEqual([file("a"), file("b")]);
  for (const key of changed.splice(0)) await copies.reconcile(key);
  expect(await reconciled()).toEqual({ [file("a")]: a, [file("b")]: b });
});

test("after a failed read or write the copies are read again", async () => {
  const a = write("a", one);
  deploy("f", "a");
  await open();
  for (const refused of ["GET", "PATCH"]) {
    api.faults.refuse = ({ method, path }) =>
      method === refused && path.endsWith("/callback-secrets") ? { status: 403 } : undefined;
    await expect(copies.reconcile(file("a"))).rejects.toThrow();
  }
  api.faults.refuse = undefined;
  readsOfCopies();
  await copies.reconcile(file("a"));
  expect(readsOfCopies()).toBe(1);
  expect(await reconciled()).toEqual({ [file("a")]: a });
});
