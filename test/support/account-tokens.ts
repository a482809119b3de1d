import { afterAll, beforeAll, expect, test } from "vitest";

import { restRoutes } from "../../runtime/gateway/rest/route-table.ts";
import type { RouteEntry } from "../../runtime/gateway/rest/route.ts";
import { clusterClient, isReady } from "./cluster-client.ts";
import { clusterIdentity, issuerInCluster } from "./cluster-identity.ts";
import type { ClusterPlatform } from "./cluster-platform.ts";
import { eventually } from "./eventually.ts";
import { identityFunction, type IdentityReport, type IdentityTask } from "./identity-function.ts";
import { notEmpty } from "./not-empty.ts";
import { claimsOf } from "./token-keys.ts";

/**
 * Tests of what tokens of the cluster's service accounts may do on a platform that trusts the cluster: one deploys
 * functions, and one, which a function finds in its file, calls functions.
 */
export function testAccountTokens(opened: () => ClusterPlatform): void {
  const client = clusterClient(opened);
  const identity = clusterIdentity(opened);
  const own = (): string => opened().functionNamespace;
  const other = (): string => `${opened().namespace}-other`;
  const subjectOf = (name: string): string => `fed:system:serviceaccount:${own()}:${name}`;
  const asksForCaller = { annotations: { "com.service.auth": "required" } };

  beforeAll(async () => {
    const namespace = { name: other(), annotations: { "com.service": "1" } };
    expect((await client.sendJson("POST", `/system/namespace/${other()}`, namespace)).status).toBe(201);
    await Promise.all([
      identity.grant("deployer", ["Function:Create"], [`${own()}:*`]),
      identity.grant("caller", ["Function:Invoke"], [`${own()}:greeter`]),
    ]);
    const greets = `sh -c 'echo "$Http_X_Auth_Subject [$Http_Authorization]"'`;
    await Promise.all([
      client.deploy("greeter", { ...asksForCaller, envProcess: greets }),
      client.deploy(`greeter.${other()}`, { ...asksForCaller, envProcess: greets }),
      client.deploy("guarded", { ...asksForCaller, envProcess: `sh -c 'echo "[$SERVICE_TOKEN_FILE]"'` }),
      client.deploy("caller", {
        annotations: { "com.service.serviceaccount": "caller" },
        envProcess: identityFunction,
        envVars: { mode: "http" },
      }),
    ]);
  });
  afterAll(async () => {
    for (const functionName of ["greeter", "guarded", "caller", "shipped"])
      await client.sendJson("DELETE", "/system/functions", { functionName });
    await client.sendJson("DELETE", `/system/namespace/${other()}`, { name: other() });
    const find = ["get", "namespace", other(), "--ignore-not-found"];
    await eventually(async () => (await opened().cluster.kubectl(find, { namespace: null })) === "", {
      within: 120_000,
      what: "the other namespace to be gone",
      every: 500,
    });
  });

  /** Sends a request with the token of account `deployer`. */
  const deploys = async (method: string, path: string, body?: object): Promise<string> => {
    const response = await client.send(path, {
      method,
      ...(method !== "GET" && body !== undefined && { body: JSON.stringify(body) }),
      headers: { "content-type": "application/json", authorization: `Bearer ${await deployerToken()}` },
    });
    return `${response.status} ${await response.text()}`;
  };
  let token: Promise<string> | undefined;
  const deployerToken = (): Promise<string> => (token ??= identity.apiToken("deployer"));
  const deployment = (namespace: string) => ({
    service: "shipped",
    namespace,
    image: opened().image,
    envProcess: "cat",
  });

  test("the rules are in force, and the issuer is the gateway's address in the cluster", async () => {
    const { iam } = (await (await client.send("/system/info")).json()) as { readonly iam: object };
    expect(iam).toEqual({
      issuer: issuerInCluster(opened().namespace),
      issuers: 1,
      policies: 2,
      roles: 2,
      faults: [],
    });
  });

  test("a token of the API server is exchanged, and deploys a function into its own namespace", async () => {
    const { access_token: issued = "", ...reply } = await identity.exchange(
      await identity.accountToken({ name: "deployer" }),
    );
    expect(reply).toMatchObject({ status: 200, token_type: "Bearer", expires_in: 1_800 });
    const issuer = issuerInCluster(opened().namespace);
    expect(claimsOf(issued)).toMatchObject({ iss: issuer, aud: issuer, sub: subjectOf("deployer") });
    expect(await deploys("GET", "/system/iam/whoami")).toContain(`"subject":"${subjectOf("deployer")}"`);

    expect(await deploys("POST", "/system/functions", deployment(own()))).toBe("202 ");
    await client.shows("shipped", "the deployed function to be ready", isReady);
    expect(await client.call("shipped")).toBe("200 hello");
    const audited = await eventually(
      async () => {
        const query = new URLSearchParams({
          subject: subjectOf("deployer"),
          action: "Function:Create",
          allowed: "true",
        });
        const [line] = (await (await client.send(`/system/audit?${String(query)}`)).text()).split("\n");
        return line === undefined || line === "" ? undefined : (JSON.parse(line) as object);
      },
      { what: "the record of the deployment" },
    );
    expect(audited).toMatchObject({
      via: "token",
      resource: `${own()}:shipped`,
      by: { role: "deployer", policy: "deployer", sid: "deployer" },
      status: 202,
    });
  });

  test("it deploys into no other namespace, whether that exists or not", async () => {
    const namespaces = [other(), opened().namespace, "default", "kube-system", `${own()}x`, own().slice(0, -1)];
    for (const namespace of namespaces) {
      const refused = `403 Cannot create function "shipped" in "${namespace}": ${subjectOf("deployer")} (https://`;
      const reply = await deploys("POST", "/system/functions", deployment(namespace));
      expect(reply).toContain(refused);
      expect(reply).toContain(` has no policy that allows Function:Create on ${namespace}:shipped`);
      expect(await deploys("PUT", "/system/functions", deployment(namespace))).toMatch(
        new RegExp(`^403 .* has no policy that allows Function:Update on ${namespace}:shipped`),
      );
    }
    const names = await opened().cluster.kubectl(["get", "functions.service.com", "--output=name"], {
      namespace: other(),
    });
    expect(names.trim()).toBe("function.service.com/greeter");
  });

  test("it does nothing else, by any route, and is told which action it lacks", async () => {
    const guarded = restRoutes(true).filter(({ needs }) => needs.includes(":") && needs !== "Function:Create");
    const replies = new Map<string, string>();
    for (const entry of notEmpty(guarded, "route that needs an action")) {
      const { path, body } = requestOf(entry, own(), opened().image);
      replies.set(entry.id, await deploys(entry.method, path, body));
    }
    expect(replies.size).toBe(guarded.length);
    const lacks = guarded.map(({ id, needs }) => [id, `has no policy that allows ${needs} on `] as const);
    const others = lacks.filter(([id, sentence]) => {
      const reply = replies.get(id) ?? "";
      return !reply.startsWith("403 Cannot ") || !reply.includes(sentence);
    });
    expect(others.map(([id]) => [id, replies.get(id)])).toEqual([]);
    expect(await deploys("POST", "/function/guarded")).toMatch(
      new RegExp(`^403 .* has no policy that allows Function:Invoke on ${own()}:guarded`),
    );
    expect(await client.call("shipped")).toBe("200 hello");
  });

  test("no other token of the API server is exchanged", async () => {
    const sentence = async (given: Promise<string>): Promise<string> => {
      const { status, error_description: why } = await identity.exchange(await given);
      return `${status} ${why}`;
    };
    await identity.createAccount({ name: "deployer", namespace: other() });
    await identity.createAccount({ name: "nobody" });
    const roleless = "400 Cannot exchange token: no Role gives its subject a Policy";
    expect(await sentence(identity.accountToken({ name: "deployer", namespace: other() }))).toBe(roleless);
    expect(await sentence(identity.accountToken({ name: "nobody" }))).toBe(roleless);
    const foreign = identity.accountToken({ name: "deployer" }, await identity.issuer());
    expect(await sentence(foreign)).toMatch(/^400 .*: subject_token is not valid: .*'aud' claim/);
  });

  /** What function `caller` did with its token. */
  const called = async (task: IdentityTask): Promise<IdentityReport> => {
    const response = await client.sendJson("POST", "/function/caller", task);
    expect(response.status).toBe(200);
    return (await response.json()) as IdentityReport;
  };
  /** How each call of a function was to end. */
  const expected = (why: (resource: string) => string): IdentityReport["replies"] => {
    const refused = (resource: string) => {
      const [namespace = "", name = ""] = resource.split(":");
      return `403 Cannot call function "${name}" in "${namespace}": ${why(resource)}`;
    };
    return {
      "/function/greeter": `200 ${subjectOf("caller")} []`,
      [`/function/greeter.${own()}`]: `200 ${subjectOf("caller")} []`,
      "/function/guarded": refused(`${own()}:guarded`),
      [`/function/greeter.${other()}`]: refused(`${other()}:greeter`),
      "/async-function/greeter": "202 ",
      "/async-function/guarded": refused(`${own()}:guarded`),
    };
  };
  const callerOf = async (): Promise<string> => `${subjectOf("caller")} (${await identity.issuer()})`;
  const tokenFile = "/var/service/identity/token";

  test("the token in a function's file, exchanged, calls the one function of its role, and no other", async () => {
    const who = await callerOf();
    const replies = {
      ...expected((resource) => `${who} has no policy that allows Function:Invoke on ${resource}`),
      "/system/functions": `403 Cannot list functions in "${own()}": ${who} has no policy that allows Function:List on ${own()}:*`,
    };
    expect(await called({ fields: {}, paths: Object.keys(replies) })).toEqual({
      file: tokenFile,
      hasApiToken: false,
      exchange: "200",
      replies,
      unexchanged: "401",
    });
  });

  test("so does a function token that it gets for that function alone", async () => {
    const fields = { scope: "function", audience: `${own()}:greeter` };
    const who = await callerOf();
    const replies = {
      ...expected((resource) => `the function token of ${who} is not good for ${resource}`),
      "/system/functions": expect.stringMatching(/^401 /),
    };
    expect(await called({ fields, paths: Object.keys(replies) })).toMatchObject({ exchange: "200", replies });
    const wider = await called({ fields: { ...fields, audience: `${own()}:guarded` }, paths: [] });
    expect(wider.exchange).toBe(
      `400 Cannot exchange token: no Policy allows its subject Function:Invoke on ${own()}:guarded`,
    );
  });

  test("a function that names no service account has no such file", async () => {
    expect(await client.call("guarded")).toBe("200 []\n");
  });
}

const callId = "7f3c1d52-5c0e-4d7b-9a53-0f5d2f4f2f10";

/** A valid request of a route that concerns function `shipped` of `namespace`, or all that is there. */
function requestOf(
  { method, path, bodyOptional, ignoredFields }: RouteEntry,
  namespace: string,
  image: string,
): { readonly path: string; readonly body: object } {
  const filled = path
    .replace(":callId", callId)
    .replace(":queue", "default")
    .replace(":namespace", namespace)
    .replace(":name", "shipped");
  const deployment = { service: "shipped", namespace, image };
  if (path === "/system/functions" && method !== "GET" && method !== "DELETE")
    return { path: filled, body: deployment };
  if (bodyOptional === true && ignoredFields !== undefined) return { path: filled, body: {} };
  // Fields that a route does not know are dropped.
  const body = {
    name: namespace,
    namespace,
    functionName: "shipped",
    replicas: 2,
    value: "a value of some length",
    alerts: [{ status: "resolved", labels: { function_name: `shipped.${namespace}` } }],
    action: "Function:Get",
    resource: `${namespace}:shipped`,
  };
  return { path: `${filled}?namespace=${namespace}&name=shipped&follow=false`, body };
}
