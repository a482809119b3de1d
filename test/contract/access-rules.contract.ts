import { expect, test } from "vitest";

import type { RuleSet } from "../../runtime/core/access/rule-set.ts";
import type { AccessRules } from "../../runtime/core/ports/access-rules.ts";
import { eventually } from "../support/eventually.ts";

/** A manifest as it is written for Kubernetes and for a directory. */
export interface IamManifest {
  readonly apiVersion: "iam.service.com/v1";
  readonly kind: "JwtIssuer" | "Policy" | "Role";
  readonly metadata: { readonly name: string };
  readonly spec: object;
}

export interface OpenAccessRules {
  readonly rules: AccessRules;
  /** Writes a manifest over that of the same kind and name. */
  put(manifest: IamManifest): Promise<void>;
  remove(manifest: IamManifest): Promise<void>;
  close(): Promise<void>;
}

function manifest(kind: IamManifest["kind"], name: string, spec: object): IamManifest {
  return { apiVersion: "iam.service.com/v1", kind, metadata: { name }, spec };
}

const issuer = (name: string, iss: string) => manifest("JwtIssuer", name, { iss, aud: ["weir"], tokenExpiry: "1h" });
const policy = (name: string, ...action: string[]) =>
  manifest("Policy", name, { statement: [{ sid: "s", effect: "Allow", action, resource: ["dev:*"] }] });
const role = (name: string, ...names: string[]) =>
  manifest("Role", name, { policy: names, principal: { "jwt:iss": ["https://a.example"] } });

/** What every `AccessRules` promises; each test opens some of which there are none yet. */
export function accessRulesContract(open: () => Promise<OpenAccessRules>): void {
  const opened = (name: string, body: (opened: OpenAccessRules & { seen: RuleSet[] }) => Promise<void>): void => {
    test(name, async () => {
      const all = await open();
      const seen: RuleSet[] = [];
      try {
        await body({ ...all, seen });
      } finally {
        await all.close();
      }
    });
  };
  const until = (seen: readonly RuleSet[], what: string, holds: (rules: RuleSet) => boolean): Promise<RuleSet> =>
    eventually(
      () => {
        const last = seen.at(-1);
        return last !== undefined && holds(last) && last;
      },
      { what },
    );

  opened("watch() reports at once that there are no rules", async ({ rules, seen }) => {
    const stop = await rules.watch((each) => void seen.push(each));
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({ issuers: new Map(), policies: new Map(), roles: [], faults: [] });
    stop();
  });

  opened("watch() reports the rules, then each change of them", async ({ rules, put, remove, seen }) => {
    await put(issuer("one", "https://a.example"));
    await put(policy("deployers", "Function:*"));
    await put(role("team", "deployers"));
    const stop = await rules.watch((each) => void seen.push(each));
    const first = await until(seen, "all three", ({ roles, policies, issuers }) =>
      [roles.length, policies.size, issuers.size].every((count) => count === 1),
    );
    expect(first.faults).toEqual([]);
    expect(first.issuers.get("https://a.example")).toEqual({
      name: "one",
      iss: "https://a.example",
      audiences: ["weir"],
      internal: undefined,
      tokenExpiry: 3_600_000,
      denied: [],
      nameClaims: ["preferred_username", "email", "name"],
      login: undefined,
    });
    expect(first.roles).toMatchObject([{ name: "team", policy: ["deployers"] }]);

    await put(policy("deployers", "Function:List"));
    const changed = await until(
      seen,
      "the change",
      ({ policies }) => policies.get("deployers")?.statement[0]?.action[0] === "Function:List",
    );
    expect(changed.version).not.toBe(first.version);
    await put(policy("deployers", "Function:*"));
    expect((await until(seen, "the change back", ({ version }) => version === first.version)).roles).toHaveLength(1);

    await remove(role("team", "deployers"));
    expect((await until(seen, "the removal", ({ roles }) => roles.length === 0)).policies.size).toBe(1);
    stop();
  });

  opened("a wrong manifest is left out, said once, and takes no other with it", async ({ rules, put, seen }) => {
    const stop = await rules.watch((each) => void seen.push(each));
    await put(policy("deployers", "Function:*"));
    // No API server can check it: the values of conditions have no type.
    await put(manifest("Role", "wrong", { policy: ["deployers"], condition: { StringEqual: { "jwt:team": 5 } } }));
    await put(role("right", "deployers"));
    const found = await until(seen, "two faults", ({ roles, faults }) => roles.length === 1 && faults.length === 1);
    expect(found.roles).toMatchObject([{ name: "right" }]);
    expect(found.policies.size).toBe(1);
    expect(found.faults).toMatchObject([
      {
        subject: 'Role "wrong"',
        sentence:
          'it is left out: field "spec.condition.StringEqual.jwt:team" is 5: expected text, or a list of texts: at most 256, each of at most 1024 characters',
      },
    ]);
    await put(manifest("Role", "wrong", { policy: ["deployers"], condition: { StringEqual: { "jwt:team": "5" } } }));
    await until(seen, "both roles", ({ roles, faults }) => roles.length === 2 && faults.length === 0);
    stop();
  });

  opened("a manifest that becomes wrong does not count any more", async ({ rules, put, seen }) => {
    await put(policy("deployers", "Function:*"));
    await put(role("team", "deployers"));
    const stop = await rules.watch((each) => void seen.push(each));
    await until(seen, "the role", ({ roles }) => roles.length === 1);
    await put(manifest("Role", "team", { policy: ["deployers"], condition: { StringEqual: { "jwt:team": {} } } }));
    const found = await until(seen, "no role", ({ roles }) => roles.length === 0);
    expect(found.faults).toMatchObject([{ subject: 'Role "team"' }]);
    stop();
  });

  opened("a Role that names a missing Policy says so, until it is there", async ({ rules, put, seen }) => {
    const stop = await rules.watch((each) => void seen.push(each));
    await put(policy("viewers", "Function:List"));
    await put(role("team", "viewers", "deployers"));
    const partly = await until(seen, "the fault", ({ faults }) => faults.length === 1);
    expect(partly.roles).toHaveLength(1);
    expect(partly.faults).toMatchObject([
      { subject: 'Role "team"', sentence: expect.stringContaining('Policy "deployers", which does not exist') },
    ]);
    await put(policy("deployers", "Function:*"));
    await until(seen, "no fault", ({ faults, policies }) => faults.length === 0 && policies.size === 2);
    stop();
  });

  opened("of two issuers of one iss the first by name counts", async ({ rules, put, remove, seen }) => {
    const stop = await rules.watch((each) => void seen.push(each));
    await put(issuer("b", "https://a.example"));
    await put(issuer("a", "https://a.example"));
    const found = await until(seen, "a fault", ({ faults }) => faults.length === 1);
    expect(found.issuers.get("https://a.example")?.name).toBe("a");
    expect(found.faults).toMatchObject([{ subject: 'JwtIssuer "b"' }]);
    await remove(issuer("a", "https://a.example"));
    const left = await until(seen, "no fault", ({ faults, issuers }) => faults.length === 0 && issuers.size === 1);
    expect(left.issuers.get("https://a.example")?.name).toBe("b");
    stop();
  });

  opened("every watch hears every change, and none after its end", async ({ rules, put, seen }) => {
    const others: RuleSet[] = [];
    const stop = await rules.watch((each) => void seen.push(each));
    const stopOther = await rules.watch((each) => void others.push(each));
    stop();
    await put(policy("deployers", "Function:*"));
    await until(others, "the policy", ({ policies }) => policies.size === 1);
    expect(seen).toHaveLength(1);
    stopOther();
  });
}
