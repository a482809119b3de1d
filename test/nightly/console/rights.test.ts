import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Page } from "playwright-core";

import { axeFindings } from "../../support/console/axe-findings.ts";
import { describeConsole } from "../../support/console/opened-console.ts";
import { waitForWords } from "../../support/console/page-words.ts";
import { seedWeir } from "../../support/console/seed-weir.ts";
import { eventually } from "../../support/eventually.ts";
import { FormBrowser, openOidcIssuer, type OidcIssuer } from "../../support/oidc-issuer.ts";

const seeing = ["Function:List", "Function:Get", "System:Info"];
const rulesFor = (issuer: string): string =>
  `
kind: JwtIssuer
metadata: { name: idp }
spec: { iss: "${issuer}", aud: [weir], login: { clientId: weir, scopes: [openid] } }
---
kind: Policy
metadata: { name: see }
spec: { statement: [{ sid: see, effect: Allow, action: ${JSON.stringify(seeing)}, resource: ["*"] }] }
---
kind: Role
metadata: { name: readers }
spec: { policy: [see], principal: { "jwt:sub": [alice] } }
`.replaceAll(/^kind/gm, "apiVersion: iam.service.com/v1\nkind");

const options = { flags: ["--edition=enterprise"], prepare: seedWeir, isSignedIn: false };

/** The console of somebody who signed in at an issuer, and may look at functions only. */
describeConsole("who may not do everything", options, (opened) => {
  let issuer: OidcIssuer;
  let page: Page;
  beforeAll(async () => {
    const { weir, window } = opened();
    ({ page } = opened());
    const callback = `${weir.origin}/auth/callback`;
    issuer = await openOidcIssuer(
      [{ client_id: "weir", token_endpoint_auth_method: "none", redirect_uris: [callback] }],
      { findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }) },
    );
    await writeFile(join(weir.weir.data, "iam", "rules.yaml"), rulesFor(issuer.url), { mode: 0o600 });
    // The issuer's own pages ask hosts that tests do not reach, so no browser opens them.
    const begin = () =>
      window.context.request.get(`${weir.origin}/auth/login?to=/ui/`, {
        headers: { "sec-fetch-site": "none" },
        maxRedirects: 0,
      });
    await eventually(async () => (await begin()).status() === 303, { what: "the rules to be read" });
    const { location = "" } = (await begin()).headers();
    const { url } = await new FormBrowser("alice").visit(location, callback);
    // A tab that went to no issuer takes no session.
    await page.goto("/ui/");
    await page.route("**/auth/login?*", (route) => route.abort());
    await page.getByRole("link", { name: "Sign in with idp" }).click();
    await page.unroute("**/auth/login?*");
    await page.goto(url);
    await page.getByRole("heading", { level: 1, name: "Functions" }).waitFor();
  });
  afterAll(() => issuer?.[Symbol.asyncDispose]());

  test("is offered what the rules give, and nothing else", async () => {
    await waitForWords(page, "hello");
    const pages = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    expect(await pages.allTextContents()).toEqual(["Functions", "System"]);
    expect(await page.getByRole("link", { name: "New function" }).count()).toBe(0);
    await page.getByRole("link", { name: /^hello/ }).click();
    await waitForWords(page, "Conditions");
    expect(await page.getByRole("button", { name: /^(Scale|Delete)$/ }).count()).toBe(0);
    expect(await page.getByRole("navigation", { name: "Pages of hello" }).getByRole("link").allTextContents()).toEqual([
      "Status",
      "Try",
      "Scaling",
    ]);
    expect(await axeFindings(page)).toEqual([]);
  });

  test.each([
    ["/ui/secrets", "Secret:List"],
    ["/ui/calls", "Call:List"],
    ["/ui/queues", "Queue:List"],
    ["/ui/audit", "System:Audit"],
  ])("is told at %s that %s is missing, and who one is", async (path, action) => {
    await page.goto(path);
    const alert = page.getByRole("alert").first();
    await alert.getByText(new RegExp(`allows ${action}`)).waitFor();
    expect(await alert.textContent()).toMatch(/^Cannot .*You are signed in as fed:alice\.$/s);
    expect(await axeFindings(page)).toEqual([]);
  });

  test("is told the same when a change is refused", async () => {
    await page.goto("/ui/new");
    await page.getByRole("button", { name: "Capital letters" }).click();
    await page.getByRole("textbox", { name: "Name" }).fill("mine");
    await page.getByRole("button", { name: "Deploy" }).click();
    await page
      .getByRole("alert")
      .getByText(/allows Function:Create/)
      .waitFor();
    await waitForWords(page, "You are signed in as fed:alice.");
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("mine");
  });
});
