import { afterEach, beforeEach, expect, test } from "vitest";

import { KubeClient } from "../../../../../../runtime/adapters/kubernetes/client/client.ts";
import { OperatedRules } from "../../../../../../runtime/adapters/kubernetes/operator/rules/operated-rules.ts";
import { KubeAccessRules } from "../../../../../../runtime/adapters/kubernetes/stores/kube-access-rules.ts";
import { ruleKinds, WatchedRules } from "../../../../../../runtime/adapters/kubernetes/stores/watched-rules.ts";
import type { IamKind } from "../../../../../../runtime/api/iam/iam-schemas.ts";
import { eventually } from "../../../../../support/eventually.ts";
import { heardFailures } from "../../../../../support/heard-failures.ts";
import { openKubernetesApi, type KubernetesApi } from "../../../../../support/kubernetes-api.ts";

const namespace = "weir";
const failures = heardFailures();
let api: KubernetesApi;
let client: KubeClient;

beforeEach(async () => {
  api = await openKubernetesApi();
  client = new KubeClient(api.config, { fieldManager: "test" });
});
afterEach(async () => {
  try {
    failures.none();
  } finally {
    await client.close();
    await api.close();
  }
});

const issuer = (iss: string) => ({ iss, aud: ["weir"] });
const policy = { statement: [{ sid: "s", effect: "Allow", action: ["Function:*"], resource: ["dev:*"] }] };
const role = (...names: readonly string[]) => ({ policy: names });

function put(kind: IamKind, name: string, spec: object, generation = 1): void {
  api.store.write(ruleKinds[kind], { metadata: { namespace, name, generation }, spec } as never);
}

type Shown = Readonly<Record<string, readonly string[]>>;

/** Type of each condition, then its status, reason and message. */
function conditionsOf(kind: IamKind, name: string): Shown {
  const object = api.store.get(ruleKinds[kind].plural, namespace, name) as {
    readonly status?: {
      readonly conditions: readonly Readonly<Record<"type" | "status" | "reason" | "message", string>>[];
    };
  };
  const conditions = object.status?.conditions ?? [];
  return Object.fromEntries(
    conditions.map(({ type, status, reason, message }) => [type, [status, reason, message]] as const),
  );
}

/** Reconciles what changes, as the operator's work queue does. */
async function operated(isEnforced: boolean, body: () => Promise<void>): Promise<void> {
  const watched = new WatchedRules(client, { namespace, onFailure: failures.hear });
  const kinds = (["JwtIssuer", "Policy", "Role"] as const).map(
    (kind) => new OperatedRules(client, { kind, watched, isEnforced }),
  );
  const running = new Set<Promise<unknown>>();
  const timers = new Set<NodeJS.Timeout>();
  let isOver = false;
  const work = (kind: OperatedRules, key: string): void => {
    if (isOver) return;
    const reconciled = kind.reconcile(key).then((again) => {
      running.delete(reconciled);
      if (again !== undefined && !isOver) timers.add(setTimeout(() => work(kind, key), again));
    });
    running.add(reconciled);
  };
  try {
    for (const kind of kinds) await kind.open((key) => work(kind, key));
    await body();
  } finally {
    // What changes from now on would be written while the client closes.
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    await Promise.all(running);
    for (const kind of kinds) await kind.close();
  }
}

const until = (what: string, kind: IamKind, name: string, holds: (conditions: Shown) => boolean): Promise<Shown> =>
  eventually(
    () => {
      const conditions = conditionsOf(kind, name);
      return holds(conditions) && conditions;
    },
    { what },
  );
const isReady = ({ Ready }: Shown): boolean => Ready?.[0] === "True";

test("objects that count are accepted, enforced and ready, with the generation that was judged", async () => {
  put("JwtIssuer", "one", issuer("https://a.example"), 7);
  put("Policy", "deployers", policy);
  put("Role", "team", role("deployers"));
  await operated(true, async () => {
    await until("the issuer", "JwtIssuer", "one", isReady);
    await until("the policy", "Policy", "deployers", isReady);
    const conditions = await until("the role", "Role", "team", isReady);
    expect(conditions).toEqual({
      Accepted: ["True", "Accepted", "The Role can be used"],
      Enforced: ["True", "Enforced", "The platform acts on it"],
      Ready: ["True", "Enforced", "The platform acts on it"],
    });
    expect(api.store.get("jwtissuers", namespace, "one")).toMatchObject({ status: { observedGeneration: 7 } });
  });
});

test("a Role that names a missing Policy is not ready until it is there", async () => {
  put("Policy", "viewers", policy);
  put("Role", "team", role("viewers", "deployers", "admins"));
  await operated(true, async () => {
    const conditions = await until("its conditions", "Role", "team", ({ Ready }) => Ready !== undefined);
    expect(conditions).toMatchObject({
      Accepted: ["True", "Accepted", expect.anything()],
      Enforced: ["True", "Enforced", expect.anything()],
      Ready: ["False", "Incomplete", expect.anything()],
    });
    for (const missing of ["deployers", "admins"]) {
      const sentence = `It names Policy "${missing}", which does not exist, and grants the others only.`;
      expect(conditions["Ready"]?.[2]).toContain(sentence);
    }
    put("Policy", "deployers", policy);
    put("Policy", "admins", policy);
    await until("the policies", "Role", "team", isReady);
    api.store.remove("policies", namespace, "admins");
    await until("the removal", "Role", "team", ({ Ready }) => Ready?.[1] === "Incomplete");
  });
});

test("the second issuer of an iss is refused, until the first is gone", async () => {
  put("JwtIssuer", "a", issuer("https://a.example"));
  put("JwtIssuer", "b", issuer("https://a.example"));
  await operated(true, async () => {
    await until("the first", "JwtIssuer", "a", isReady);
    const conditions = await until("the second", "JwtIssuer", "b", ({ Ready }) => Ready !== undefined);
    const message = 'It is left out: JwtIssuer "a" has the same iss.';
    expect(conditions).toMatchObject({
      Accepted: ["False", "Refused", message],
      Enforced: ["False", "Refused", expect.anything()],
      Ready: ["False", "Refused", message],
    });
    api.store.remove("jwtissuers", namespace, "a");
    await until("the second alone", "JwtIssuer", "b", isReady);
  });
});

test("what the API server cannot check is refused with field, value and rule", async () => {
  put("Role", "team", { ...role("deployers"), condition: { StringEqual: { team: "core" } } });
  await operated(true, async () => {
    const { Accepted } = await until("its conditions", "Role", "team", ({ Ready }) => Ready !== undefined);
    expect(Accepted).toEqual([
      "False",
      "Refused",
      'It is left out: field "spec.condition.StringEqual.team" is not an allowed key: expected "jwt:" and the name of a claim.',
    ]);
  });
});

test("a Role that reports is ready, and not enforced", async () => {
  put("Policy", "deployers", policy);
  put("Role", "team", { ...role("deployers"), mode: "report" });
  await operated(true, async () => {
    const conditions = await until("the role", "Role", "team", isReady);
    expect(conditions).toMatchObject({
      Accepted: ["True", "Accepted", expect.anything()],
      Enforced: ["False", "ReportOnly", "It allows nothing: what it would have allowed is logged"],
      Ready: ["True", "ReportOnly", expect.anything()],
    });
  });
});

test("an edition without identity and access says so, and still refuses what is wrong", async () => {
  put("Policy", "deployers", policy);
  put("Role", "team", { ...role("deployers"), condition: { StringEqual: { "jwt:team": 5 } } });
  await operated(false, async () => {
    const conditions = await until("the policy", "Policy", "deployers", ({ Ready }) => Ready !== undefined);
    const message =
      "This edition has no identity and access: objects of kind Policy are checked and kept, and have no effect";
    expect(conditions).toMatchObject({
      Accepted: ["True", "Accepted", expect.anything()],
      Enforced: ["False", "NotEnforced", message],
      Ready: ["False", "NotEnforced", message],
    });
    const wrong = await until("the role", "Role", "team", ({ Ready }) => Ready !== undefined);
    expect(wrong["Accepted"]?.slice(0, 2)).toEqual(["False", "Refused"]);
  });
});

test("a status that says it already is not written again", async () => {
  put("Policy", "deployers", policy);
  const writes = (): number => api.requests.filter(({ method }) => method === "PATCH").length;
  await operated(true, () => until("the policy", "Policy", "deployers", isReady).then(() => {}));
  const before = writes();
  await operated(true, async () => {
    put("Policy", "other", policy);
    await until("another one", "Policy", "other", isReady);
  });
  expect(writes()).toBe(before + 1);
});

test("an issuer whose keys no gateway can read is not ready until one can", async () => {
  put("JwtIssuer", "one", issuer("https://a.example"));
  const gateway = new KubeAccessRules(client, { namespace, onFailure: failures.hear }, () => 0);
  try {
    await gateway.watch(() => {});
    await operated(true, async () => {
      await until("the issuer", "JwtIssuer", "one", isReady);
      await gateway.reportKeys("one", 'Cannot read "https://a.example/keys": connect ECONNREFUSED');
      const conditions = await until(
        "the issuer without keys",
        "JwtIssuer",
        "one",
        ({ Ready }) => Ready?.[0] === "False",
      );
      expect(conditions).toMatchObject({
        Accepted: ["True", "Accepted", "The JwtIssuer can be used"],
        Ready: ["False", "KeysUnavailable", 'Cannot read "https://a.example/keys": connect ECONNREFUSED'],
      });
      await gateway.reportKeys("one", undefined);
      await until("the issuer with keys", "JwtIssuer", "one", isReady);
      await gateway.reportKeys("another", "it is not there");
    });
  } finally {
    await gateway.close();
  }
});
