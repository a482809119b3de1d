import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { eventually } from "../support/eventually.ts";
import { chromiumProgram, openHeadlessBrowser, type HeadlessBrowser } from "../support/headless-browser.ts";
import type { BrowserPage } from "../support/headless-browser-page.ts";
import { openSignInCommand } from "../support/keycloak-command.ts";
import { consoleLogin, keycloakRules, openKeycloakGateway, type KeycloakGateway } from "../support/keycloak-gateway.ts";
import { keycloakDistribution } from "../support/keycloak-distribution.ts";
import { commandClient, consoleClient, keycloakPassword, type KeycloakPerson } from "../support/keycloak-realm.ts";
import { startKeycloak, type Keycloak } from "../support/keycloak.ts";
import { say } from "../support/say.ts";

/** Sign-in and sign-out at a real Keycloak, in a real browser. */
const distribution = await keycloakDistribution(say);
const program = typeof distribution === "string" ? undefined : chromiumProgram(say);

/** Fills in and sends the page that asks who it is. */
async function fillIn(page: BrowserPage, person: KeycloakPerson): Promise<void> {
  await page.fill("#username", person);
  await page.fill("#password", keycloakPassword);
  await page.click("#kc-login");
}

describe.skipIf(program === undefined)("in a browser", () => {
  let keycloak: Keycloak;
  let browser: HeadlessBrowser;
  beforeAll(async () => {
    if (typeof distribution === "string" || program === undefined) return;
    keycloak = await startKeycloak(distribution);
    browser = await openHeadlessBrowser(program);
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await keycloak?.[Symbol.asyncDispose]();
  });

  describe("weir login", () => {
    let gateway: KeycloakGateway;
    beforeAll(async () => {
      const login = { clientId: commandClient, scopes: ["openid", "profile"] };
      gateway = await openKeycloakGateway(keycloakRules(keycloak.issuer, login), Date.now);
    });
    afterAll(() => gateway?.[Symbol.asyncDispose]());

    test.each(["--sso", "--device"] as const)(
      "%s signs in and exchanges the token; it is renewed until Keycloak ends it",
      async (flag) => {
        await using command = await openSignInCommand(gateway.url);
        const { address, ended } = await command.login(flag);
        const page = await browser.newPage();
        await page.visit(address);
        await fillIn(page, "alice");
        if (flag === "--device") await page.click("#kc-login[name=accept]");
        const { code, stderr } = await ended;
        expect(code, stderr).toBe(0);
        const found = await command.stored();
        expect(found?.signIn).toMatchObject({ issuer: keycloak.issuer, clientId: commandClient });
        const who = await command.run("whoami", "-o", "json");
        expect(who).toMatchObject({ code: 0, stderr: "" });
        expect(JSON.parse(who.stdout)).toMatchObject({
          identity: { issuer: keycloak.issuer, via: "token", policies: ["deploy", "read"] },
        });

        if (found === undefined) throw new Error("no sign-in is stored");
        await command.endToken(found);
        expect(await command.run("list")).toMatchObject({ code: 0, stderr: "" });
        const renewed = await command.stored();
        expect(renewed?.token).not.toBe(found.token);
        expect(Date.parse(renewed?.signIn.expiresAt ?? "")).toBeGreaterThan(Date.now());

        if (renewed === undefined) throw new Error("the next sign-in is not stored");
        for (const id of await keycloak.sessionsOf("alice", commandClient))
          await keycloak.admin("DELETE", `/sessions/${id}`);
        await command.endToken(renewed);
        expect(await command.run("list")).toMatchObject({
          code: 4,
          stderr: expect.stringContaining("it has ended") as string,
        });
      },
    );

    test("--sso tells the person so, and stores nothing for one without a Role", async () => {
      await using command = await openSignInCommand(gateway.url);
      const { address, ended } = await command.login("--sso");
      const page = await browser.newPage();
      await page.visit(address);
      await fillIn(page, "mallory");
      await page.arrival(/:\d+\/callback\?/);
      expect(await page.text()).toBe("You can close this page: the command weir goes on.");
      const { code, stderr } = await ended;
      expect([code, stderr]).toEqual([4, expect.stringMatching(/no Role gives its subject a Policy\n$/)]);
      expect(await command.stored()).toBeUndefined();
    });
  });

  test("the console opens a session, and ends it at Keycloak, too", async () => {
    await using gateway = await openKeycloakGateway(keycloakRules(keycloak.issuer, consoleLogin), Date.now);
    const { origin } = gateway.opened;
    const page = await browser.newPage();
    /** Through the link of the console; what the page has of the session, which it took from its address. */
    const signIn = async (): Promise<unknown> => {
      await page.visit(`${origin}/ui/functions`);
      await page.click("a[href^='/auth/login?issuer=keycloak&']");
      await fillIn(page, "bob");
      await page.arrival(/^http:\/\/127\.0\.0\.1:\d+\/ui\/functions$/);
      return page.evaluate("sessionStorage.getItem('weir-session')");
    };
    const half = await signIn();
    expect(half).toMatch(/^[\w-]{43}$/);
    const send = async (method: string, path: string): Promise<unknown> => {
      const init = { method, headers: { "x-weir-session": half } };
      const url = JSON.stringify(`${origin}${path}`);
      return page.evaluate(`fetch(${url}, ${JSON.stringify(init)}).then(async (reply) =>
        [reply.status, reply.status === 200 ? await reply.json() : undefined])`);
    };
    expect(await send("GET", "/auth/session")).toMatchObject([200, { via: "issuer" }]);
    expect(await send("GET", "/system/functions")).toEqual([200, []]);
    const sessions = async (): Promise<number> => (await keycloak.sessionsOf("bob", consoleClient)).length;
    expect(await sessions()).toBe(1);

    expect(await send("POST", "/auth/logout")).toEqual([204, null]);
    await eventually(async () => (await sessions()) === 0, { what: "the end of the session at Keycloak" });
    expect(await send("GET", "/auth/session")).toEqual([401, null]);
    // Keycloak asks again who it is.
    const next = await signIn();
    expect(next).toMatch(/^[\w-]{43}$/);
    expect(next).not.toBe(half);
  });
});
